// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/provenance.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <mpi.h>

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

}  // namespace laple::mpi
