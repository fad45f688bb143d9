// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/log.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <mpi.h>

#include "mpi/exec/communicator.hpp"

namespace laple::mpi {

void say(const std::string& text) {
    const std::string line =
        fmt::format("[laple {}/{}] {}\n", rank_in(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD), text);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace laple::mpi
