// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "collectives/cost/segment_times.hpp"
#include "collectives/trees/tree.hpp"

namespace laple {

/// A shape over the members of a cluster, as plain arrays. (links_of)
struct Members {
    std::vector<int> first_child;  ///< of each member, into `children`; one more than there are members
    std::vector<int> children;
    std::vector<int> depth;
    int deepest = 0;
    std::size_t most_below = 0;  ///< children that a member other than the leader has at most

    /// The paths from the leader that may be the longest: no other path has more of all three.
    struct Way {
        int starts = 0;    ///< of messages that leave before those of the way, and of these
        int shares = 0;    ///< of messages that leave at the same time as those of the way, these included
        int messages = 0;  ///< of the way itself
    };
    std::vector<Way> longest;

    /// Until the last member has a message of those times, in a cluster of that number. The leader sends
    /// others too, which take `shared` of its port. What a rested NIC saves is saved at every message of a
    /// way.
    double until_last(const SegmentTimes& times, int cluster, double shared = 0) const;

    int size() const { return static_cast<int>(depth.size()); }
    std::span<const int> children_of(int member) const {
        const auto m = static_cast<std::size_t>(member);
        return {children.data() + first_child[m],
                static_cast<std::size_t>(first_child[m + 1] - first_child[m])};
    }
};

/// The shapes that were asked for so far.
class KnownMembers {
  public:
    /// `behind_root`: the shape is that of all but the first member, which has one child: its root.
    const Members& of(Shape shape, int size, bool behind_root = false);

  private:
    struct Known {
        Shape shape;
        int size;
        bool behind_root;
        Members members;
    };
    std::vector<std::unique_ptr<Known>> known_;
};

}  // namespace laple
