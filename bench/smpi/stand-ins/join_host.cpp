// SPDX-License-Identifier: BSD-3-Clause
// Stands in for src/mpi/exec/join_host.cpp.
#include "mpi/exec/join_host.hpp"

namespace laple::mpi {

/// The simulator's platform says what messages inside a host take.
std::unique_ptr<HostMemory> join_host(MPI_Comm, std::span<const Rank>, std::size_t) {
    return nullptr;
}

}  // namespace laple::mpi
