// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/probe/patience.hpp"

namespace laple::mpi {

/// A pair's shortest round trip must have stayed the shortest for so long. The default is that of several
/// time slices of a scheduler: where ranks share processors, short round trips come in bursts, and a whole
/// burst may be disturbed.
inline constexpr Seconds kSettle = std::chrono::milliseconds(20);

/// Ping-pong with `peer`, who calls answer_latency(). Returns the shortest round trip of an empty message, or
/// infinity when patience was over before the first one. The first trip, which waits for the peer and for
/// connections to be made, does not count.
///
/// Queues, in the network or for the processor, only ever add to it. (docs/algorithms.md)
Seconds ask_latency(MPI_Comm probes, int peer, Seconds settle, const Patience& patience);

/// The other half. From its answer to the next message takes one round trip as well, so it has as many
/// chances to see an undisturbed one; it may return infinity all the same.
Seconds answer_latency(MPI_Comm probes, int peer, Seconds settle);

}  // namespace laple::mpi
