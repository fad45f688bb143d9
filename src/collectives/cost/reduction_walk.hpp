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

/// The segments that a member gets from one child.
struct Contribution {
    int member;
    int cluster;        ///< of the child
    double port;        ///< the member's port, for each segment
    double first_byte;  ///< of the first segment comes
    double first;       ///< the first segment is complete, if it need not queue for the port
    double last;        ///< the last segment is, if so
};

/// What one walk needs, kept for the next one.
struct ReductionScratch {
    std::vector<ReductionTime> ready;  // by cluster, of its leader
    std::vector<ReductionTime> done;   // by member of a cluster
    std::vector<Contribution> far;     // to a cluster, from others
    std::vector<Contribution> here;    // to a member
    std::vector<double> trunk_free;
};

/// When the root of a tree has combined the first segment, and all of them, as contributions come to it: each
/// member's port takes those of its children as they arrive, so that what comes from inside the cluster is
/// often done before anything comes from others. (A broadcast with time reversed, as Walk has it, lets all of
/// them come together.) Of a member to which the first bytes of its children come at a(1) <= a(2) <= ...,
/// with k segments each that take g(i) of its port:
///
///     first    when the port, serving them in that order, has taken one of each
///     last     max over i of a(i) + k (g(i) + g(i+1) + ...); not before the last one of the slowest child
///
/// less what an idle port saves, and then combined. Clusters to which others contribute nothing have a
/// formula (ready_alone).
class ReductionWalk {
  public:
    /// `scratch` has what the tree's walks have in common; `times` are those of a reduction. The references
    /// must outlive this.
    ReductionWalk(WalkScratch& scratch, const ClusterTree& tree, int root, std::uint64_t segments,
                  const SegmentTimes& times);

    ReductionTime time();
    /// Directly after time(): when the root has sent the last result, if it takes `interval` for each and
    /// begins when it has the first. Segments of fast children fill its port ahead of those of slow ones, so
    /// that early results are late, and the following ones come faster than the root can send them: each when
    /// its segment of the slowest child comes, and the port has taken all that came before.
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
        ReductionTime own;  ///< what a member contributes itself is ready
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
