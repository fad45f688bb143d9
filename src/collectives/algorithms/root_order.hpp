// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/collective/request.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Clusters, in the order in which the root of a scatter sends to them: first those whose blocks take longest
/// to arrive once the root has sent the last of them, because the way is long or the uplink slower than the
/// root; the root's own cluster last. Blocks travel while the root sends others: where they are not cut, no
/// other order takes a shorter time. Where sizes differ, that of long blocks. Empty for other collectives,
/// and where no costs or no other clusters are known. (Jackson, "Scheduling a production line to minimize
/// maximum tardiness", 1955)
std::vector<int> root_order(const Request& request, const Machine& machine, const MachineCosts& costs);

/// Of each cluster its place in such an order.
std::vector<int> turns_in(const std::vector<int>& order);

/// `request`, or where its blocks have different sizes, one with blocks of 64 KiB: those that go straight by
/// all algorithms.
Request of_long_blocks(const Request& request);

}  // namespace laple
