// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/network_costs.hpp"
#include "collectives/plan.hpp"
#include "collectives/tree_price.hpp"

namespace laple {

/// One way to do a call, with its predicted time.
struct Candidate {
    Algorithm algorithm;
    SendOrder order;  ///< between the clusters, of trees
    double seconds = 0;
    TreeTime time;  ///< of its parts; of native calls only `last` is known
    /// Messages of a tree from one outermost group of clusters to another: fewer are kinder to what groups
    /// share, of which the model may not know. Meetings count as a tree that has as few as can be, a scatter
    /// less, one in regions as many copies as pass the busiest uplink.
    int crossings = 0;
    int hops = 0;    ///< messages one after the other inside the largest cluster, of all but native calls
    int behind = 0;  ///< of a tree that a link or uplink between clusters binds: clusters that it serves
    std::vector<int> shares;   ///< of a scatter meeting
    RegionList regions;        ///< of a regional meeting
    std::vector<int> relays;   ///< of relayed lanes
    bool is_measured = false;  ///< not predicted; native calls only
};

/// Prices ways to do one request on one topology. Pure, and the same on all ranks.
class Pricing {
  public:
    /// `costs` are not empty and count the innermost clusters of `topology`, which has some. The operation of
    /// `request`, if any, is commutative. The references must outlive this.
    Pricing(const Request& request, const Topology& topology, const NetworkCosts& costs);

    /// All that are worth a thought, MPI's own among them; the best first, of equals the one that comes first
    /// in the order below.
    ///
    ///     trees      every rule for the order between clusters, slow-last where a link holds up several of
    ///     them
    ///                in a pipeline; undivided with the local tree that is the
    ///                best for that size, in segments with chains and binary trees, for several sizes of
    ///                segments; each with messages to other clusters from the coordinator, and spread;
    ///                the best spread ones in several lanes; lanes that clusters relay (bcast)
    ///     meetings   exchange and doubling in one lane, exchange, scatter and regional in several; regional
    ///                where all ranks of a cluster can have equal parts
    ///                (allreduce, barrier)
    ///     native
    std::vector<Candidate> all();

    /// That algorithm's price; nothing where it has none: shapes between clusters of several levels, native
    /// calls inside clusters, scatter but in lanes that are flat inside single clusters, regional but in
    /// lanes that are flat inside clusters.
    std::optional<Candidate> price(const Algorithm& algorithm);

  private:
    struct Times {
        Bytes bytes;
        SegmentTimes::Use use;
        SegmentTimes::Direction direction;
        SegmentTimes times;
    };

    const SegmentTimes& times(Bytes segment_bytes, SegmentTimes::Direction direction);
    const SegmentTimes& times_of_tree(Bytes segment_bytes);
    void add_orders(std::span<const std::string_view> rules, Shape within, Bytes segment_bytes,
                    std::span<const SendOrder> settled, std::vector<Candidate>& found);
    void add_trees(std::vector<Candidate>& found);
    void add_pipelines(std::vector<Candidate>& found);
    void add_slow_last(std::vector<Candidate>& found);
    void add_lanes(std::vector<Candidate>& found);
    void add_relayed(std::vector<Candidate>& found);
    void add_meetings(std::vector<Candidate>& found);
    void add_best_orders(std::vector<Candidate>& found);
    Candidate native();
    Candidate tree(Algorithm algorithm, SendOrder order);
    std::optional<Candidate> relayed(Algorithm algorithm, const std::function<int(int)>& lanes_for,
                                     double most = std::numeric_limits<double>::infinity());
    SendOrder order_for(const Algorithm& algorithm, const ClusterTimes& clusters);
    SendOrder order_for(const Algorithm& algorithm);
    ClusterTimes clusters_for(Shape within, Bytes segment_bytes);
    Shape best_local();
    int hops_in(Shape within);
    Bytes lanes_in_regions() const;
    bool is_coarse(Bytes segment_bytes);

    const Request& request_;
    const Topology& topology_;
    const NetworkCosts& costs_;
    int root_cluster_;
    TreePricer pricer_;
    std::vector<std::vector<int>> groups_;  // outermost, as lists of clusters
    RegionList regions_;                    // empty: no cluster is nearer to some than to others
    std::vector<std::unique_ptr<Times>> times_;
    std::optional<Shape> best_local_;  // once it is asked for
};

/// What `found` says is best, of those that `may_use` allows: of nearly equal ones (is_near) the
/// simplest (is_simpler in candidates.cpp says why and in which order); and MPI's own call unless another one
/// is clearly better (kWorthwhile), for it costs nothing to try. `found` as from Pricing::all(). nullptr when
/// none is allowed.
const Candidate* best_of(const std::vector<Candidate>& found,
                         const std::function<bool(const Algorithm&)>& may_use);

inline constexpr double kNearlyEqual = 1.04;

/// The same if the fastest is a pipeline in which a NIC hardly rests, and NICs of the other one have clearly
/// less to do: on emulated grids the former took up to a fifth longer than predicted.
inline constexpr double kNearlyEqualIfCalmer = 1.08;

/// Whether `candidate` takes nearly as long as `fastest`, so that the simpler one is taken.
bool is_near(const Candidate& candidate, const Candidate& fastest);

/// A prediction must be so much shorter than that of MPI's own call.
inline constexpr double kWorthwhile = 0.95;

}  // namespace laple
