// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Groups of clusters with low latency between them; each list is ascending, and every cluster is in one.
using ClusterGroups = std::vector<std::vector<int>>;

/// The groups of the outermost level where the machine has groups of clusters. Otherwise those that latencies
/// set apart: joined nearest first, up to the last step to a latency that is twice as long or more. Nothing
/// when there is no such step, and with fewer than three clusters.
///
///     5 ms between 0 and 1, 40 and 45 ms from there to 2     {0 1} {2}
///
/// (single linkage, cut at its outermost gap)
ClusterGroups near_groups(const Machine& machine, const MachineCosts& costs);

}  // namespace laple
