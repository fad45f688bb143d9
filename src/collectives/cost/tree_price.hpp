// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collectives/cost/members.hpp"
#include "collectives/cost/segment_times.hpp"
#include "collectives/trees/send_order.hpp"
#include "collectives/trees/tree.hpp"

namespace laple {

/// A tree over all ranks, seen from the clusters: who sends to whom between them, in which order, and the
/// tree inside each. ordered_tree (hierarchy.hpp) makes it a tree of ranks.
struct ClusterTree {
    SendOrder order;
    bool spread = false;  ///< multi-leader: messages to other clusters leave from several hosts (LevelShape)
    Shape within;
    int lanes =
        1;  ///< more than one: segments take turns between the trees (StripedTrees); multi-leader then
};

/// What makes a plan take as long as it does.
struct Binding {
    enum class Kind {
        start,   ///< nothing yet
        port,    ///< a rank of cluster `a` sends to all its children
        link,    ///< the flow from `a` to `b`
        uplink,  ///< all that leaves `a`
        trunk,   ///< all that goes from group `a` to group `b`
    };
    Kind kind = Kind::start;
    int a = -1;
    int b = -1;
};

/// A broadcast of some segments along a tree.
struct TreeTime {
    double first = 0;       ///< the first segment is everywhere
    double last = 0;        ///< the last segment is everywhere
    double interval = 0;    ///< the longest between two segments at any rank
    double others = 0;      ///< from the first segment to the last, less what idle NICs save
    Binding binding;        ///< of that interval
    int last_cluster = -1;  ///< the last cluster to have all segments
    double one_way = 0;     ///< the interval of the broadcast alone, where an allreduce shares the ports
    double sustained = 0;   ///< what the busiest NIC takes for all segments, call after call
    double against = 0;     ///< what flows both ways lose at their beginning (MachineCosts::ramp_against)
};

struct WalkScratch;

/// Prices trees over clusters of `sizes` ranks each. Holds what trees have in common, so that a price costs
/// little: O(ranks of clusters that pass the message on to others + clusters).
class TreePricer {
  public:
    explicit TreePricer(std::vector<int> sizes);
    ~TreePricer();

    /// How long a broadcast of `segments` segments from the root's cluster takes, when each segment costs
    /// `times`. Each rank passes a segment on to all its children, those in other clusters first:
    ///
    ///     first(c) = first(v) + L(v, c) + max (Σ starts + Σ shares, of all of v's messages;
    ///                                          Σ starts of those before c + what c's takes alone)
    ///     last(c)  = first(c) + (segments - 1) · I(c) - what the first has left of the credit
    ///
    /// A message's start is what it needs of the port alone; the rest of its port time is shared by all that
    /// are under way (SegmentTimes::start()).
    ///
    ///     I(c)     the longest interval above c: of a rank's port for all its children, of a flow (its gap),
    ///              of an uplink for all segments that leave a cluster, of a trunk for all between two groups
    ///     credit   what an idle NIC saves, where I(c) is that of a NIC; first(v) has it too. Programs call
    ///              again and again: in the long run a NIC saves no more than it gains in pauses
    ///     ramp     what an idle flow takes in addition (SegmentTimes::ramp()): its only message, or all
    ///     after
    ///              the first one
    ///
    /// A reduction without lanes (times of that direction) takes its interval, its binding and its sustained
    /// load from this; its first and its last segment are followed from the leaves up (ReductionWalk).
    ///
    /// With lanes, the first segment goes down a tree of its own as above; of the others I(c) has a port's
    /// share of what all lanes ask of it, a flow its lane's share, and a link what the uplink at its end
    /// takes.
    TreeTime broadcast(const ClusterTree& tree, int root, std::uint64_t segments, const SegmentTimes& times);

    /// A reduction followed by a broadcast along the same tree, segment by segment. What goes up and what
    /// goes down do not wait for each other, but share the ranks' ports: each rank but the root sends a
    /// segment to its parent and to all its children, and gets as many.
    TreeTime there_and_back(const ClusterTree& tree, int root, std::uint64_t segments,
                            const SegmentTimes& down, const SegmentTimes& up);

    /// A broadcast inside one cluster, from its leader, in which nothing is sent to other clusters.
    double local(int cluster, Shape within, std::uint64_t segments, const SegmentTimes& times);

    /// `behind_root`: the shape is that of all but the first member, which has one child: its root.
    const Members& members(Shape shape, int size, bool behind_root = false) {
        return members_.of(shape, size, behind_root);
    }
    const std::vector<int>& sizes() const { return sizes_; }

  private:
    /// Finds what walks along one tree have in common.
    void prepare(const ClusterTree& tree, int root);
    /// Which member of its cluster each message of `tree` leaves from, by the scratch's members: the one with
    /// the fewest children so far, of equals the one closest to the leader; the leader itself without
    /// multi-leader. In a tree with lanes the root passes on to its own cluster only.
    void find_senders(const ClusterTree& tree, int root);
    double lacks_on_the_way_back(int root, const SegmentTimes& down) const;

    std::vector<int> sizes_;
    KnownMembers members_;
    std::vector<std::vector<int>> extra_;  // scratch of find_senders(): children in other clusters, by member
    std::unique_ptr<WalkScratch> scratch_;
};

}  // namespace laple
