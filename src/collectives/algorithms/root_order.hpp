// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/collective/request.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Clusters, in the order in which the root of a scatter sends to them: first those that have all the latest
/// after the last byte for them has left, because they are far or their uplinks slow; the root's own last.
/// While blocks travel the root sends others: of all orders this takes the shortest time. Empty for other
/// collectives, and where no costs or no other clusters are known. (Jackson, "Scheduling a production line to
/// minimize maximum tardiness", 1955)
std::vector<int> root_order(const Request& request, const Machine& machine, const MachineCosts& costs);

/// The turn of the cluster of `rank` in such an order.
int turn_in(const std::vector<int>& order, const Machine& machine, Rank rank);

}  // namespace laple
