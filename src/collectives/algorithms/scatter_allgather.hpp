// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/cost/tree_price.hpp"
#include "collectives/trees/striped_trees.hpp"

namespace laple {

struct AlgorithmName;

/// Broadcast between clusters by scatter and allgather, in lanes, each of which another cluster relays to all
/// others. The message leaves the root's cluster once, and a segment is everywhere after two latencies
/// between clusters, however many there are:
///
///     lane 0, relayed by 1          lane 1, relayed by 2          lane 2, relayed by 3
///     0 ══ 1 ═┬═ 2                  0 ══ 2 ═┬═ 3                  0 ══ 3 ═┬═ 1
///             └═ 3                          └═ 1                          └═ 2
///
/// A chain has C-1 latencies, a flat tree C-1 copies in the root's uplink. Backwards it would be a reduction,
/// but no root limits the rate of contributions: early ones crowd out those that are due (on four emulated
/// sites it took a third longer than a chain).
///
///     scatter-allgather/chain@8Kx12        in 12 lanes, with chains inside the clusters
///
/// (GridMPI's latency-aware broadcast, a modified van de Geijn, between any number of clusters: the scatter
/// is the way to the relays, the allgather what these send; docs/algorithms.md)
class ScatterAllgather final : public Algorithm {
  public:
    /// `relays`: clusters, not the root's, in turn; empty: all of them.
    ScatterAllgather(Shape within, Bytes segment_bytes, int lanes, std::vector<int> relays)
        : within_(within), segment_bytes_(segment_bytes), lanes_(lanes), relays_(std::move(relays)) {}

    std::string name() const override;
    std::string details() const override;
    std::string in_words() const override;
    std::optional<Tree> tree(const Request& request, const Machine& machine) const override;
    Bytes segment_bytes() const override { return segment_bytes_; }
    int lanes() const override { return lanes_; }
    bool takes_turns() const override { return true; }
    bool can_do(const Request& request, const Machine& machine) const override;
    std::optional<Candidate> price(Pricing& pricing) const override;
    void write_steps(const Part& part, ScheduleBuilder& builder) const override;

  private:
    LaneTrees trees(const Request& request, const Machine& machine) const;

    Shape within_;
    Bytes segment_bytes_;
    int lanes_;
    std::vector<int> relays_;
};

// What the registry has of this family.

AlgorithmPtr parse_scatter_allgather(const AlgorithmName& name, Collective collective);

/// Where there are as many segments as lanes that are fair to all hosts, and it may be the fastest of all.
void propose_scatter_allgather(Pricing& pricing, std::vector<Candidate>& found);

/// The messages between `clusters` clusters of a lane from `root`'s that `relay` passes on: to the cluster
/// after it first, so that relays begin with different ones.
SendOrder relayed_order(int root, int relay, int clusters);

/// Who relays, in turn, and how long it takes.
struct Relayed {
    std::vector<int> relays;
    int lanes = 1;
    TreeTime time;
};

/// The best relays, all alike, for a broadcast of `segments` segments that cost `times` each, with `within`
/// inside the clusters of `pricer`: some of those that take the least time to pass a segment on to all
/// others. With C clusters and the share w of the lanes that a relay has, segments are held up by
///
///     w (C-2) copies in the uplink of a relay, one in that of the root's cluster, one on the way into each
///     (n-1) + w (C-2) messages sent by the n NICs of a relay, and n that NICs of every cluster get
///     (n-2) + 1 messages of the n-1 NICs of the root's cluster that are not the root's, one of the root's
///     w of all segments in the flows from a relay to another cluster, which may ramp
///
/// `lanes_for` says how many lanes there are with so many relays, 0 for not so many. No relays where that is
/// so for all numbers, or where it takes longer than `most` seconds. O(C³), and one walk (tree_price.hpp).
Relayed relayed_time(Shape within, const std::function<int(int relays)>& lanes_for, int root,
                     std::uint64_t segments, const SegmentTimes& times, TreePricer& pricer,
                     double most = std::numeric_limits<double>::infinity());

}  // namespace laple
