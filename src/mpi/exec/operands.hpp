// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/datatype.hpp"

namespace laple::mpi {

class HostMemory;

/// The user's memory and how to work on it.
struct Operands {
    const std::byte* input = nullptr;  ///< what the rank contributes; may be part of `result`
    std::byte* result = nullptr;       ///< the message or the result; nullptr may be MPI_BOTTOM, so:
    bool has_result = true;            ///< false where this rank gets none (MPI_Reduce)
    MPI_Datatype type = MPI_BYTE;      ///< one unit of the schedule
    TypeLayout layout{1, 1, 0, 1, true};
    MPI_Op op = MPI_OP_NULL;
    int code = MPI_SUCCESS;  ///< an error that this rank has met already; the others learn of it
};

/// Where messages go: LaPle's own communicator, and for native steps that of this rank's cluster.
struct Ways {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm cluster = MPI_COMM_NULL;
    std::vector<Rank> cluster_ranks;  ///< ranks of `comm` by rank in `cluster`
    int first_tag = kFirstTag;        ///< of as many as there are channels
    std::uint64_t call = 1;           ///< number of the call, of those with these tags: ascending, from 1
    HostMemory* host = nullptr;       ///< for messages to ranks of this host; nullptr: they go as all others
    std::vector<int> place_on_host;   ///< of each rank of `comm`: its number in `host`, -1: it is elsewhere

    bool is_on_host(Rank rank) const {
        return host != nullptr && place_on_host[static_cast<std::size_t>(rank)] >= 0;
    }
};

}  // namespace laple::mpi
