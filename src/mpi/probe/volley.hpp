// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/probe/patience.hpp"

namespace laple::mpi {

/// Ping-pong with all of `peers` at once, who all call this too. Returns for each of them half the shortest
/// of a few round trips of an empty message, or infinity: where the peer has the lower rank, for that one
/// knows, where no two trips took about the same time, so that all may have been disturbed, and when patience
/// was over.
///
///     me ──ping──> p1      Trips overlap, so all take hardly longer than that of the farthest peer. But the
///        ──ping──> p2      messages disturb each other: by microseconds, which matters between close nodes
///        <──pong── p1      and does not between far ones.
///        ──ping──> p3
///
/// Connections are made on the way, all at the same time; trips during which that happens do not count.
std::vector<Seconds> ping_all(MPI_Comm probes, const std::vector<int>& peers, const Patience& patience);

}  // namespace laple::mpi
