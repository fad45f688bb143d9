// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <mpi.h>

#include "plogp/plogp.hpp"

namespace laple::mpi {

/// What a message between two ranks of one host takes while all ranks of all hosts send to each other in
/// pairs, both ways at the same time, and back and forth: as long as all ranks of a host together need for
/// some of them, the median of hosts. `host` has the ranks of this rank's host; they may share `memory`
/// bytes. On rank 0 of `comm`; empty where no host has two ranks, and on other ranks. Collective, with
/// messages on `host` only.
Plogp measure_memory(MPI_Comm comm, MPI_Comm host, std::size_t memory);

}  // namespace laple::mpi
