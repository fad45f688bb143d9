// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/provenance.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

namespace laple::mpi {

std::string mpi_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
    int length = 0;
    PMPI_Get_library_version(text.data(), &length);
    std::string line(text.data());
    line.resize(std::min(line.find('\n'), line.size()));
    // MPICH aligns its columns by tabs.
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return std::isspace(c) != 0; }, ' ');
    line.erase(std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
               line.end());
    return line;
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
