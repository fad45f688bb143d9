// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <mpi.h>

#include "mpi/comm/process.hpp"

namespace laple::mpi {

/// Makes the ranks of `comm` agree; its rank i is `in_world[i]` of MPI_COMM_WORLD. In this order:
///
/// 1. What all ranks of MPI_COMM_WORLD have agreed on holds, without a message.
/// 2. What was agreed on before, on a communicator that holds all of these ranks, is handed on.
/// 3. The lowest rank whose topology file fits this job sends it, with its settings, to all. Others read
///    theirs only if that one does not fit. If none does, rank 0 reports the problem once, and nothing is
///    agreed on.
/// 4. Where a rank wants none (off), or MPI may get buffers in a GPU's memory, nothing is agreed on.
/// 5. Rank 0 looks for these hosts in its cache; else all measure (discovery.hpp). Where that fails, the
///    ranks agree on a flat topology, so that it is not tried again. Where `comm` has the ranks of
///    MPI_COMM_WORLD in their order, `meanwhile`, another collective on `comm`, may be called while the
///    message of rank 0 is under way; on all ranks or on none.
///
/// What changes calls without a topology, strict order and verification, holds where all ranks want it.
///
/// Collective on `comm`, with MPI's own calls. An MPI error counts as no agreement.
std::shared_ptr<const Terms> agree(Process& process, MPI_Comm comm, int rank,
                                   const std::vector<Rank>& in_world, const std::function<void()>& meanwhile);

}  // namespace laple::mpi
