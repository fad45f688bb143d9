// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/tree.hpp"

/// Between tree.cpp, which knows what a tree is, and tree_search.cpp, which looks for good ones.
namespace laple {

/// The price of a tree with the order between clusters that its parameters hold, or where they hold none,
/// with that of a shape over the clusters.
Candidate priced_tree(Pricing& pricing, TreeParameters parameters, const SendOrder& of_shape = {});

/// What the rule of `parameters` makes of clusters that take such times.
SendOrder order_for(Pricing& pricing, const TreeParameters& parameters, const ClusterTimes& clusters);
ClusterTimes clusters_for(Pricing& pricing, Shape within, Bytes segment_bytes);

}  // namespace laple
