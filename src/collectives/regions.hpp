// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "collectives/network_costs.hpp"
#include "collectives/tree.hpp"
#include "topology/topology.hpp"

namespace laple {

/// Clusters that are near each other, as lists of innermost clusters, each ascending; every cluster is in
/// one.
using RegionList = std::vector<std::vector<int>>;

/// The clusters of each outermost group where the topology has groups of clusters. Otherwise those that
/// latencies set apart: joined nearest first, up to the last step to a latency that is twice as long or more.
/// Nothing when there is no such step, and with fewer than three clusters.
///
///     5 ms between 0 and 1, 40 and 45 ms from there to 2     {0 1} {2}
///
/// (single linkage, cut at its outermost gap)
RegionList regions_by_latency(const Topology& topology, const NetworkCosts& costs);

/// Which of a region's ranks, by its place among them, is the coordinator of a lane.
int coordinator_place(int lane, int lanes, int ranks);

/// Who combines with whom inside the regions of a regional meeting (expand_meeting.hpp), lane by lane. Every
/// cluster has a deputy there, whose place members take in turn; one of the region's is its coordinator, whom
/// the other deputies are next to. If the lanes are a multiple of the ranks of the region and of each of its
/// clusters, every rank of a cluster is deputy in as many of them.
///
///     lane 0        0 ──┬─ 4        {0 1 2 3} {4 5 6 7}        lane 5      5 ──┬─ 1
///                 1 2 3 │ └ 5 6 7                                        4 6 7 │ └ 0 2 3
class Regions {
  public:
    /// `regions` empty: the outermost groups. `topology` must outlive this.
    Regions(const Topology& topology, RegionList regions, Shape within);

    /// The ranks of each region.
    const std::vector<std::vector<Rank>>& ranks() const { return ranks_; }
    int region_of(Rank rank) const;

    /// One rank of each region.
    std::vector<Rank> coordinators(int lane, int lanes) const;
    /// The neighbours of `rank` in the tree of its region, whose coordinator in that lane is `coordinator`.
    RankLinks links(Rank coordinator, int lane, Rank rank) const;

  private:
    int cluster_of(Rank rank) const;
    Rank deputy(int cluster, Rank coordinator, int lane) const;

    const Topology& topology_;
    RegionList regions_;
    std::map<std::size_t, ShapeLinks> inside_;  // by number of members
    std::vector<int> region_of_;                // by cluster
    std::vector<std::vector<Rank>> ranks_;
};

}  // namespace laple
