// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/algorithms/candidate.hpp"
#include "collectives/cost/host_price.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "collectives/cost/near_groups.hpp"
#include "collectives/cost/segment_times.hpp"
#include "collectives/cost/tree_price.hpp"

namespace laple {

/// Prices ways to do one request on one machine: what the families share when they propose. Pure, and the
/// same on all ranks.
class Pricing {
  public:
    /// `costs` are not empty and count the clusters of `machine`. The operation of `request`, if any, is
    /// commutative. The references must outlive this.
    Pricing(const Request& request, const Machine& machine, const MachineCosts& costs);

    /// All candidates, MPI's own among them; the fastest first, of equals the one whose family
    /// comes first (families()).
    std::vector<Candidate> all();

    const Request& request() const { return request_; }
    const Machine& machine() const { return machine_; }
    const MachineCosts& costs() const { return costs_; }
    TreePricer& pricer() { return pricer_; }
    int clusters() const { return costs_.count(); }
    /// Where the tree between clusters begins.
    int root_cluster() const { return root_cluster_; }
    /// How many hosts each cluster has.
    const std::vector<int>& sizes() const { return pricer_.sizes(); }
    int largest_cluster() const;
    /// Groups of close clusters (near_groups.hpp); empty: there are none, or looking for them would cost more
    /// than it gains.
    const ClusterGroups& near() const { return near_; }

    std::uint64_t segments(Bytes segment_bytes) const;
    /// The times of the segments that the message is cut into.
    const SegmentTimes& times(Bytes segment_bytes, SegmentTimes::Direction direction);
    /// In the direction in which a tree is ordered: from the root, but where data run to it.
    const SegmentTimes& times_of_tree(Bytes segment_bytes);

    /// The sizes of segments to try: those of which the message has at least two; of several clusters, those
    /// that need no handshake in any.
    std::span<const Bytes> segment_sizes() const;
    /// The longest of them, whatever the message is.
    Bytes longest_segment() const;
    /// Of messages of so many bytes to so many others, at a pace: segments as long as need no handshake and,
    /// unless a rank would have too many steps, as let connections begin with one of them. 0: not cut.
    Bytes paced_segment(Bytes bytes, Bytes peers) const;
    /// Of the undivided message, the best tree in the cluster where it takes longest.
    Shape best_local();
    /// Messages one after the other, at most, inside the largest cluster.
    int hops_in(Shape within);
    /// Whether a NIC is long busy with a single segment, so that ranks in lanes wait for each other's turns.
    bool is_coarse(Bytes segment_bytes);

  private:
    void add_message_times(std::vector<Candidate>& found) const;
    std::size_t messages_of(const Algorithm& algorithm) const;
    struct Times {
        Bytes bytes;
        SegmentTimes::Use use;
        SegmentTimes::Direction direction;
        SegmentTimes times;
    };

    /// What the ranks of the fullest host of a cluster take among themselves for such a message; nothing
    /// where every host has one. `is_stream`: it is one of several segments.
    HostTime on_host(int cluster, Bytes bytes, bool is_stream, HostWays ways);

    const Request& request_;
    const Machine& machine_;
    const MachineCosts& costs_;
    int root_cluster_;
    TreePricer pricer_;
    ClusterGroups near_;
    std::vector<std::unique_ptr<Times>> times_;
    std::optional<Shape> best_local_;  // once it is asked for
};

/// Adds to the time of a plan between hosts that of the ranks on them, which combine segments at their
/// leaders, or get them from there, or both (host_tree.hpp). Nothing where every host has one rank.
void add_time_on_hosts(Pricing& pricing, Bytes segment_bytes, TreeTime& time);

/// With so many lanes all hosts of clusters of `sizes` hosts lead about as many of them. More than that are
/// not worth their names.
Bytes fair_lanes(const std::vector<int>& sizes);

/// The root of the tree that a request uses. A reduction that must keep rank order runs towards rank 0, which
/// passes the result on to the root: only there does every subtree hold consecutive ranks.
Rank tree_root(const Request& request);

/// Below that, nothing is cut.
inline constexpr Bytes kLeastToCut = 16 * 1024;
/// Lanes are tried up to so many, but for those that are fair to all hosts.
inline constexpr int kUsualLanes = 16;
/// With more clusters, pricing everything would cost more than it gains.
inline constexpr int kManyClusters = 24;
/// What takes that many times as long as the fastest is not looked at more closely.
inline constexpr double kHopeless = 1.5;
/// Times that differ by less are nearly equal.
inline constexpr double kNearlyEqual = 1.04;

inline constexpr Shape kFlatShape{Shape::Kind::flat};
inline constexpr Shape kBinomialShape{Shape::Kind::binomial};
inline constexpr Shape kBinaryShape{Shape::Kind::kary, 2};
inline constexpr Shape kChainShape{Shape::Kind::chain};

}  // namespace laple
