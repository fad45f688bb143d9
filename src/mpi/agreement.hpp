// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include <mpi.h>

#include "mpi/process.hpp"
#include "topology/topology.hpp"

namespace laple::mpi {

/// What all ranks of a communicator decide from: equal on all of them, whatever their environments say.
struct Agreement {
    Topology topology;      ///< of MPI_COMM_WORLD
    std::string algorithm;  ///< LAPLE_ALGORITHM
};

/// Makes the ranks of `comm` agree: the lowest rank that has a good topology file gives it, and its settings,
/// to all. Nothing when no rank has one; if one was asked for, rank 0 says once what is wrong. Collective on
/// `comm`, with MPI's own calls. An MPI error counts as no agreement.
std::optional<Agreement> agree(Process& process, MPI_Comm comm, int rank, int size);

}  // namespace laple::mpi
