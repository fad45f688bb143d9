// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/loaded_laple.hpp"

#include <array>

#include <dlfcn.h>

#include "laple/laple.h"

namespace laple::bench {

LoadedLaple::LoadedLaple()
    : version_(reinterpret_cast<decltype(version_)>(dlsym(RTLD_DEFAULT, "laple_version"))),
      algorithm_used_(
          reinterpret_cast<decltype(algorithm_used_)>(dlsym(RTLD_DEFAULT, "laple_algorithm_used"))) {}

std::optional<std::string> LoadedLaple::version() const {
    if (version_ == nullptr) return std::nullopt;
    return version_();
}

std::string LoadedLaple::algorithm_used(MPI_Comm comm) const {
    if (!present()) return "not loaded";
    std::array<char, LAPLE_MAX_ALGORITHM_NAME> name{};
    if (algorithm_used_(comm, name.data()) != MPI_SUCCESS) return "unknown";
    name.back() = '\0';
    return name.data();
}

}  // namespace laple::bench
