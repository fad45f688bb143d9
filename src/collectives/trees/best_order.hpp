// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "collectives/trees/send_order.hpp"

namespace laple {

/// Up to so many clusters the best order is searched for among all.
inline constexpr int kExactClusters = 7;

/// An order that no other one beats. For at most kExactClusters clusters; more throw std::invalid_argument.
/// Branch and bound: messages in the order of their starts; a branch ends where what was sent, or the
/// shortest path to a cluster that waits, makes it no better than the best one known. (docs/algorithms.md)
SendOrder exact_order(const ClusterTimes& times, int root, LocalPhase phase);

/// `order`, made better step by step as long as that goes, but for a bounded effort: two messages change
/// places, or a cluster gets its message from another one. Never worse than `order`.
SendOrder improved(const ClusterTimes& times, SendOrder order, int root, LocalPhase phase);

struct BestOrder {
    SendOrder order;
    double makespan = 0;
    std::string found_by;  ///< "exact", or the name of a heuristic, with "+" when it could be improved
};

/// The best that is known: exact for few clusters, else the best heuristic, improved. Of equal ones the
/// first.
BestOrder best_order(const ClusterTimes& times, int root, LocalPhase phase);

}  // namespace laple
