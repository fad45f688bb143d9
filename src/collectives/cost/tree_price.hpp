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
    double last = 0;        ///< so are all
    double interval = 0;    ///< the longest between two segments at any rank
    double others = 0;      ///< so much later all the others are there (SegmentTimes::credit)
    Binding binding;        ///< of that interval
    int last_cluster = -1;  ///< which has it all last
    double one_way = 0;     ///< the interval where nothing comes up the tree
    double sustained = 0;   ///< what the busiest NIC takes for all segments, call after call
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
    ///     first(c) = first(v) + Σ starts, of v's messages up to c + L(v, c)
    ///                         + max (Σ shares, of v's messages; what its flow takes alone)
    ///     last(c)  = first(c) + (segments - 1) · I(c) - what the first has left of the credit
    ///
    /// The credit is what a rested NIC saves, where it is a NIC that I(c) is of; first(v) has it too. But
    /// programs call again and again: in the long run a NIC has no more to spare than it saves in pauses.
    ///
    /// A flow that has rested takes its ramp longer (segment_times.hpp): the only message of it, or all after
    /// the first one. I(c): the longest of all intervals above c: a rank's port for all its
    /// children, a flow's gap, an uplink for all segments that leave a cluster, and a trunk for all from one
    /// group to another. (segment_times.hpp has starts, shares and rests.) A reduction takes the same
    /// on times of that direction, but its messages come to a port as they are ready and not all at once:
    /// Σ shares is that of v's messages up to c.
    ///
    /// With lanes, the first segment goes down a tree of its own as above; of the others I(c) has a port's
    /// share of what all lanes ask of it, a flow its lane's share, and a link what the uplink at its end
    /// takes.
    TreeTime broadcast(const ClusterTree& tree, int root, std::uint64_t segments, const SegmentTimes& times);

    /// A reduction followed by a broadcast along the same tree, segment by segment. What goes up and what
    /// goes down do not wait for each other, but share the ranks' ports: each rank but the root sends a
    /// segment to its parent and to all its children, and gets as many. Where several children fill a port,
    /// results wait longer than this says, for what has been sent ahead: on emulated grids by a tenth or two.
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
    void find_members(const ClusterTree& tree, int root);
    /// Which member of its cluster each message of `tree` leaves from, into `from`: the one with the fewest
    /// children so far, of equals the one closest to the leader; the leader itself without multi-leader. In a
    /// tree with lanes the root passes on to its own cluster only.
    void find_senders(const ClusterTree& tree, int root, std::vector<int>& from);

    std::vector<int> sizes_;
    KnownMembers members_;
    std::vector<std::vector<int>> extra_;  // scratch of find_senders(): children in other clusters, by member
    std::unique_ptr<WalkScratch> scratch_;
};

}  // namespace laple
