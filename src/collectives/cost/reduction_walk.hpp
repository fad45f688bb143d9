// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/cost/segment_times.hpp"
#include "collectives/cost/tree_price.hpp"

namespace laple {

/// When a member has combined the first segment, and all of them.
struct ReductionTime {
    double first = 0;
    double last = 0;
};

/// Contributions on their way to a member.
struct Contribution {
    int member;
    int cluster;   ///< that they come from
    double port;   ///< the member's, for each
    double comes;  ///< the first byte is there
    double first;  ///< the first segment can be
    double last;   ///< the last one can be
};

/// What one walk needs, kept for the next one.
struct ReductionScratch {
    std::vector<ReductionTime> ready;  // by cluster: its leader has combined all
    std::vector<ReductionTime> done;   // by member of a cluster
    std::vector<Contribution> far;     // to a cluster, from others
    std::vector<Contribution> here;    // to a member
    std::vector<double> trunk_free;
};

/// When the root of a tree has combined the first segment, and all of them, as contributions come to it: each
/// member's port takes those of its children as they arrive, so that what comes from inside the cluster is
/// often done before anything comes from others. (A broadcast with time reversed, as Walk has it, lets all of
/// them come together.) Of a member that gets the first segments of its children at a(1) <= a(2) <= ..., and
/// S of each:
///
///     first    when its port, serving them in that order, has taken one of each
///     last     max over k of a(k) + S (g(k) + g(k+1) + ...); not before the last one of the slowest child
class ReductionWalk {
  public:
    /// `scratch` has what the tree's walks have in common; `times` are those of a reduction. The references
    /// must outlive this.
    ReductionWalk(WalkScratch& scratch, const ClusterTree& tree, int root, std::uint64_t segments,
                  const SegmentTimes& times);

    ReductionTime time();
    /// After time(): when the root has sent the last result, if it takes `interval` for each and begins when
    /// it has the first. Contributions that come fast get ahead of slow ones in its port, so that results
    /// come late, and then faster than the root sends them: at a(i) + amount of all that has come when the
    /// i-th of the slowest does.
    double last_result(double interval) const;

  private:
    ReductionTime ready_in(int cluster);
    /// Where nothing comes from other clusters.
    ReductionTime ready_alone(int cluster, const Members& members) const;
    /// Of what the leader of `from`, or a member of `cluster` where these are the same, sends to a member of
    /// `cluster`.
    struct Way {
        int from;
        double port;
        double latency;
        double at_best;  ///< that the first of many segments takes
        double all;      ///< that all segments take
    };
    Way way(int cluster, int from) const;
    Contribution contribution(int member, const Way& way, const ReductionTime& ready) const;
    void find_contributions(int cluster);
    /// What the members of a cluster have in common.
    struct Here {
        ReductionTime own;  ///< of those to whom nothing comes
        double credit;
        double combining;
    };
    /// The port of `member` takes all that has come to it.
    ReductionTime combine(const Here& here, int member);

    WalkScratch& scratch_;
    const ClusterTree& tree_;
    int root_;
    double segments_;
    const SegmentTimes& times_;
    ReductionScratch& reduction_;
};

}  // namespace laple
