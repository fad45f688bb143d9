// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/units.hpp"
#include "collectives/cost/machine_costs.hpp"

namespace laple {

/// Copies of the message that a cluster sends to others in one go, at most.
struct ClusterBurst {
    int cluster = 0;
    double copies = 0;
};

/// How long an inter-cluster phase stalls because more comes to an uplink at once than may wait there, in
/// seconds; 0 where no limit is known (ClusterModel::burst).
///
/// The NICs of a cluster of n hosts send its partial results to other clusters between contributions that
/// stay inside, n - 1 copies of the message in k >= n lanes. What NICs that have rested let pass at once, and
/// then their rate, has the same parts of both.
///
/// (A rule of our own: on four sites of four hosts behind uplinks of 200 Mbit/s with queues of 128 KiB, an
/// exchange of 32 KiB in four lanes took 16 ms and one of 48 KiB 241, in one lane 18; a reduce-scatter and
/// allgather of 64 KiB 26 ms and one of 256 KiB 36.)
double stall_of(const std::vector<ClusterBurst>& bursts, Bytes bytes, int lanes,
                const std::vector<int>& sizes, const MachineCosts& costs);

}  // namespace laple
