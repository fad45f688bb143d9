// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {

/// A pair's shortest round trip must have stayed the shortest for so long. The default is that of several
/// time slices of a scheduler: where ranks share processors, short round trips come in bursts, and a whole
/// burst may be disturbed.
inline constexpr Seconds kSettle = std::chrono::milliseconds(20);

/// One way: from here on what disturbs messages, some milliseconds on a busy machine, does not matter.
inline constexpr Seconds kFar = std::chrono::milliseconds(8);

/// Ping-pong with `peer`, who calls answer_latency(). Returns the shortest round trip of an empty message, or
/// infinity when patience was over before the first one. The first trip, which waits for the peer and for
/// connections to be made, does not count.
///
/// Queues, in the network or for the processor, only ever add to it. (docs/algorithms.md)
Seconds measure_latency(MPI_Comm probes, int peer, Seconds settle, const Patience& patience);

/// The other half. From its answer to the next message takes one round trip as well, so it has as many
/// chances to see an undisturbed one; it may return infinity all the same.
Seconds answer_latency(MPI_Comm probes, int peer, Seconds settle);

/// Ping-pong with all of `peers` at once, who all call this too. Returns for each of them half the shortest
/// of a few round trips of an empty message, of far peers of two that took about the same time; or infinity:
/// where the peer has the lower rank, for that one knows, where no two trips took about the same time, so
/// that all may have been disturbed, and when patience was over.
///
///     me ──ping──> p1      Trips overlap, so all take hardly longer than that of the farthest peer. But the
///        ──ping──> p2      messages disturb each other: by microseconds, which matters between close nodes
///        <──pong── p1      and does not between far ones.
///        ──ping──> p3
///
/// Connections are made on the way, all at the same time; trips during which that happens do not count.
std::vector<Seconds> ping_all(MPI_Comm probes, const std::vector<int>& peers, const Patience& patience);

}  // namespace laple::mpi
