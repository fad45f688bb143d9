// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Where MPI's barrier was measured on the ranks of `machine`, which has one cluster: adds to the latency
/// inside it what each of its ceil(log2 H) rounds between H hosts took longer than by latencies and gaps,
/// which were measured between two ranks with all others asleep: ranks wait for processors, and for the
/// system to wake them. Between clusters that is lost in what far links differ by. Sets `rank_delay`.
/// Segments of a pipeline are no closer to each other than that, and a message beyond the eager limit takes
/// twice as much longer (MachineCosts). (A model of our own)
void add_rank_delay(const Machine& machine, MachineCosts& costs);

/// The same of several clusters, where all are near (kNearClusters): the ranks of all of them may share
/// processors, as hosts on one machine do. Then what matters is how many messages there are in all, H⌈log2 H⌉
/// between hosts and two for each other rank in that barrier, and not which rank waits for which. Where each
/// rank has sent an empty message to each other one, that tells more: a barrier's messages wait for each
/// other anyway. Sets `message_time`. (A model of our own)
void add_message_time(const Machine& machine, MachineCosts& costs);

}  // namespace laple
