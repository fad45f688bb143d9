// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/comm/process.hpp"
#include "mpi/probe/hosts.hpp"

namespace laple::mpi {

/// What a rank could contribute to an agreement, in ascending order of how much that weighs.
enum class Proposal { measure, off, file, agreed };

/// What the proposals of all ranks of a communicator come to.
struct Consensus {
    bool is_one_build = false;  ///< all ranks have the same LaPle; else the rest is unknown
    Proposal best = Proposal::off;
    int source = 0;          ///< the lowest rank of those with that proposal; 0 for Proposal::measure
    bool may_race = false;   ///< some rank allows threads to call MPI at the same time
    bool is_strict = false;  ///< all ranks want it, as the next
    bool is_verified = false;
    bool heeds_pcontrol = false;
    bool has_progress = false;
    Adapting adapting = Adapting::never;
    Bytes block_memory = 0;    ///< the least of all
    int streams = 0;           ///< likewise
    bool is_profiled = false;  ///< one rank wants it
    bool is_traced = false;    ///< all ranks want it
    /// Some rank has measured on parts of MPI_COMM_WORLD for as long as a job may.
    bool have_parts_measured = false;
    bool may_have_gpu_buffers = false;  ///< MPI takes them on one rank
    /// Where the ranks are, of all of MPI_COMM_WORLD; nothing where some host has no id.
    std::optional<PlaceSums> places;
};

/// That of the `size` ranks of `comm`, on each of them; nothing after an MPI error. Collective on `comm`: one
/// call, with MPI's own. It is the first message that LaPle sends on a communicator, and the only one that a
/// rank without LaPle does not answer, which is reported after a minute.
std::optional<Consensus> find_consensus(Process& process, MPI_Comm comm, int rank, int size,
                                        Proposal proposal);

}  // namespace laple::mpi
