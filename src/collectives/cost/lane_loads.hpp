// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "collectives/cost/tree_walk.hpp"

namespace laple {

/// What lanes ask of the members of a cluster, which take each other's places from lane to lane: in lane i
/// each member does what the one i places before it does in the first lane.
class LaneLoads {
  public:
    /// As of the walk whose scratch it is. The references must outlive this.
    LaneLoads(WalkScratch& scratch, const ClusterTree& tree, int root, std::uint64_t segments)
        : scratch_(scratch), tree_(tree), root_(root), segments_(segments) {}

    /// Different pairs of ranks that the lanes from one cluster to another use. Each has one segment at
    /// least.
    double flows(int from, int to) const;

    /// How long the busiest port of a cluster takes for a segment, on average of all. `inside`: what a member
    /// does for its parent in the cluster; `back`: the times of what comes up, or nullptr. After by_member
    /// has been sorted.
    double busiest(int cluster, const ForParent& inside, const SegmentTimes& times, const SegmentTimes* back);

  private:
    /// Members that take turns: all but the root of the tree, which is first in its cluster.
    int first_in_turn(int cluster) const;

    WalkScratch& scratch_;
    const ClusterTree& tree_;
    int root_;
    std::uint64_t segments_;
};

}  // namespace laple
