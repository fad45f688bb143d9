// SPDX-License-Identifier: BSD-3-Clause
// Stands in for bench/laple-bench/loaded_laple.cpp: a simulated rank is a copy of the program loaded apart,
// in which nothing is found by name, so LaPle is linked.
#include "bench/laple-bench/loaded_laple.hpp"

#include <array>

#include "laple/laple.h"

namespace laple::bench {

LoadedLaple::LoadedLaple() : version_(laple_version), algorithm_used_(laple_algorithm_used) {}

std::optional<std::string> LoadedLaple::version() const {
    return version_();
}

std::string LoadedLaple::algorithm_used(MPI_Comm comm) const {
    std::array<char, LAPLE_MAX_ALGORITHM_NAME> name{};
    if (algorithm_used_(comm, name.data()) != MPI_SUCCESS) return "unknown";
    return name.data();
}

}  // namespace laple::bench
