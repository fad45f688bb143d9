// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/provenance.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include "model/mpi_name.hpp"

namespace laple::mpi {
namespace {

std::string library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
    int length = 0;
    PMPI_Get_library_version(text.data(), &length);
    return text.data();
}

}  // namespace

std::string mpi_version() {
    return version_of_mpi(library_version());
}

std::string mpi_in_use() {
    // A program may change its environment, which its messages do not go by any more.
    static const std::string name = name_of_mpi(library_version(), mpi_environment());
    return name;
}

std::string now_in_utc() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
}

std::map<std::string, std::string> mpi_environment() {
    constexpr std::array<std::string_view, 6> kPrefixes{"LAPLE_",     "LD_PRELOAD=", "UCX_",
                                                        "MPIR_CVAR_", "FI_",         "I_MPI_"};
    std::map<std::string, std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        const bool relevant = std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                          [&](auto prefix) { return text.starts_with(prefix); });
        if (relevant && equals != std::string_view::npos) {
            variables.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return variables;
}

}  // namespace laple::mpi
