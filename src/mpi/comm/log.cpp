// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/log.hpp"

#include <cstdio>
#include <new>

#include <fmt/format.h>
#include <mpi.h>

#include "mpi/exec/communicator.hpp"

namespace laple::mpi {

void say(const std::string& text) {
    const std::string line =
        fmt::format("[laple {}/{}] {}\n", rank_in(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD), text);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void end_without_memory(const char* what) noexcept {
    try {
        say(fmt::format(
            "{}, as no memory is left on this rank, and others wait for it: ending the job; LAPLE_DISABLE=1 "
            "avoids LaPle",
            what));
    } catch (const std::bad_alloc&) {
        // Not even enough for the message.
    }
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace laple::mpi
