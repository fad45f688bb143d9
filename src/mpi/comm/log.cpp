// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/log.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <mpi.h>

namespace laple::mpi {

void say(const std::string& text) {
    int rank = 0;
    int size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    const std::string line = fmt::format("[laple {}/{}] {}\n", rank, size, text);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace laple::mpi
