// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/algorithms/pricing.hpp"

namespace laple {

/// By place in a ring of clusters, one of those in the order of members; empty: as it is. Costs decide it.
using RingOrder = std::vector<std::size_t>;

/// `values` of clusters in the order of members, in that of the ring.
template <typename Value>
std::vector<Value> in_ring(const std::vector<Value>& values, const RingOrder& order) {
    if (order.empty()) return values;
    std::vector<Value> moved;
    for (const std::size_t place : order) moved.push_back(values[place]);
    return moved;
}

/// The clusters in the order of members (clusters_of_members()), each once.
std::vector<int> clusters_in_order(const Request& request, const Machine& machine);

/// From each cluster to the nearest one that is not in the ring yet.
RingOrder ring_order(const Pricing& pricing);

}  // namespace laple
