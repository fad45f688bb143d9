// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/algorithms/phase.hpp"
#include "collectives/cost/tree_price.hpp"

namespace laple {

/// What one outermost group does on its own in an inter-cluster phase (phase.hpp), each segment of it: ranks
/// combine at the leaders of their group, and get results from there.
struct GroupTime {
    double up = 0;        ///< until its leaders have their first segments
    double down = 0;      ///< until all have the first results
    double interval = 0;  ///< between two segments of a lane
    double credit = 0;    ///< by which all after the first one come sooner
    Binding binding;      ///< of the interval
    double sends = 0;     ///< what a leader's port takes of that interval for what it sends
    double gets = 0;      ///< and for what it gets
};

/// Prices what groups do on their own, in so many lanes. The references must outlive it.
class GroupPricer {
  public:
    /// `up` and `down`: the times of one segment in both directions.
    GroupPricer(const PhaseParameters& parameters, int lanes, const SegmentTimes& up,
                const SegmentTimes& down, TreePricer& pricer)
        : parameters_(parameters), lanes_(lanes), up_(up), down_(down), pricer_(pricer) {}

    /// Of a group, given as its clusters, the leader's first.
    GroupTime time(const std::vector<int>& group) {
        if (lanes_ > 1) return in_lanes(group);
        return group.size() == 1 ? in_cluster(group.front()) : in_tree(group);
    }
    int hosts_in(const std::vector<int>& group) const;
    /// To which a leader sends results inside its cluster.
    std::size_t children_of_leader(const std::vector<int>& group) {
        const int hosts = pricer_.sizes()[static_cast<std::size_t>(group.front())];
        return lanes_ > 1 ? static_cast<std::size_t>(hosts - 1)
                          : pricer_.members(parameters_.within, hosts).children_of(0).size();
    }
    /// That the busiest host of a group leads.
    double lanes_per_host(const std::vector<int>& group) const;

  private:
    /// How the clusters of a group are joined. (hierarchy.cpp)
    SendOrder inside(const std::vector<int>& group) const;
    GroupTime in_tree(const std::vector<int>& group);
    /// The same where the group is one cluster, which is so most often: what a walk would find, without one.
    /// The leader has the most children; all others also send to a parent and get from it.
    GroupTime in_cluster(int cluster);
    /// Every host sends to the leaders of all lanes at once, and gets from all of them.
    GroupTime in_lanes(const std::vector<int>& group) const;

    const PhaseParameters& parameters_;
    int lanes_;
    const SegmentTimes& up_;
    const SegmentTimes& down_;
    TreePricer& pricer_;
};

}  // namespace laple
