// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/algorithms/block_trees.hpp"
#include "collectives/algorithms/pricing.hpp"

namespace laple {

/// How long a reduce-scatter along the trees of blocks takes (block_trees.hpp). Hop by hop as block_time()
/// says, and what the ranks combine:
///
///     Σ hops ( max over ports and links (Σ messages g) + max L ) + γ Σ bytes combined
///
/// In segments, hops overlap: the sum of the times of the busiest ports, or the busiest link, and one segment
/// around the hosts of a cluster. In a ring of clusters at least as long as it takes around these, each of
/// which begins to send what is for a cluster when that comes from its left neighbour and its uplink is free.
/// (docs/algorithms.md, "Reduce-scatter")
TreeTime combining_time(Pricing& pricing, Aggregation aggregation, const BlockTrees& trees,
                        Bytes segment_bytes);

/// Of each cluster: the seconds that each byte takes which a rank there sends to another cluster, where
/// clusters combine first, in segments: as pace_of_blocks() says.
std::vector<double> pace_of_combined(Pricing& pricing, const BlockTrees& trees, Bytes segment_bytes);

}  // namespace laple
