// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/comm/traced_call.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

/// What all ranks have traced, on one clock.
struct TracedJob {
    const Machine& machine;                         ///< of all ranks
    std::vector<std::vector<TracedCall>> calls_of;  ///< by rank
    std::uint64_t left_out = 0;                     ///< calls whose messages had no room
    std::string versions;                           ///< for people, as the next
    std::string clock;
};

/// The timeline, for ui.perfetto.dev (base/trace_events.hpp):
///
///     rank 0              collectives   [ Allreduce 8 MiB                     ]
///                         sends          [512 KiB to 4][512 KiB to 4]
///                         receives           [ 512 KiB from 4 ]
///     rank 0, predicted   sends          [512 KiB to 4][512 KiB to 4]
///     rank 1 ...
///     network             bytes under way, by the cluster that they come from
///
/// A prediction begins when the last rank has begun its call. Messages of which one end alone was traced are
/// not drawn. Simulates where a call of rank 0 says how.
std::string text_of(const TracedJob& job);

}  // namespace laple::mpi
