// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/tree.hpp"

/// Between tree.cpp, which knows what a tree is, and tree_search.cpp, which looks for good ones.
namespace laple {

/// The price of a tree with that order between clusters, which its parameters hold where a rule has found it.
Candidate priced_tree(Pricing& pricing, TreeParameters parameters, const SendOrder& order);

/// What the rule of `parameters` makes of clusters that take such times.
SendOrder order_for(Pricing& pricing, const TreeParameters& parameters, const ClusterTimes& clusters);
ClusterTimes clusters_for(Pricing& pricing, Shape within, Bytes segment_bytes);

}  // namespace laple
