// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/trees/hierarchy.hpp"
#include "collectives/trees/striped_trees.hpp"

namespace laple {

/// What makes a tree over all ranks.
///
///     flat/binomial                        a flat tree over clusters, binomial trees inside (MagPIe)
///     flat/native                          the same, with MPI's own collective inside the clusters
///     ecef/binomial                        between clusters the order that a heuristic finds, from what the
///                                          network costs
///     multi-leader-chain/chain@8K          one pipeline through all hosts, cluster by cluster, in
///                                          segments of 8 KiB
///     multi-leader-chain/chain@8Kx4        the same in 4 lanes: segments take turns between 4 such trees, in
///                                          which hosts change places (striped_trees.hpp)
///
/// The last level is the tree over the hosts of a cluster; ranks of a host are below their leader
/// (host_tree.hpp).
struct TreeParameters {
    std::vector<LevelShape> between;  ///< outermost first
    /// The rule that orders the messages between clusters by what the network costs (order_rule.hpp), in
    /// place of the shapes: of `between` only whether the one level in it has several leaders counts then.
    std::string rule;
    SendOrder order;  ///< what it has found; empty where costs have not been asked
    Shape within;
    bool native_within = false;  ///< MPI's own collective inside clusters
    Bytes segment_bytes = 0;
    int lanes = 1;

    bool is_multi_leader() const { return !between.empty() && between.front().multi_leader; }
};

/// Bcast, reduce, allreduce and barrier along one tree over all ranks, or in lanes along several.
///
///     bcast      each segment goes down the tree as soon as it arrives; the long way first
///     reduce     each segment goes up: own ∘ nearest child ∘ next child ..., the long way last
///     allreduce  each segment goes up to the root and down again; segments follow one another
///
/// In segments a chain is the pipeline (P-1)(g(s)+L) + g(s)(k-1) of Barchet-Estefanel and Mounié's table of
/// pLogP formulas (docs/algorithms.md).
class TreeAlgorithm final : public Algorithm {
  public:
    explicit TreeAlgorithm(TreeParameters parameters) : parameters_(std::move(parameters)) {}

    const TreeParameters& parameters() const { return parameters_; }

    std::string name() const override;
    std::string details() const override;
    std::string in_words() const override;
    std::string kind() const override;
    std::optional<Tree> tree(const Request& request, const Machine& machine) const override;
    bool is_native_in_clusters() const override { return parameters_.native_within; }
    Bytes segment_bytes() const override { return parameters_.segment_bytes; }
    int lanes() const override { return parameters_.lanes; }
    const SendOrder& order() const override { return parameters_.order; }
    bool takes_turns() const override { return parameters_.lanes > 1; }
    bool needs_costs() const override { return !parameters_.rule.empty() && parameters_.order.empty(); }
    bool can_do(const Request& request, const Machine& machine) const override;
    std::optional<Candidate> price(Pricing& pricing) const override;
    void write_steps(const Part& part, ScheduleBuilder& builder) const override;

  private:
    /// Over all ranks, where there are no lanes.
    Tree one_tree(const Request& request, const Machine& machine) const;
    LaneTrees lane_trees(const Request& request, const Machine& machine) const;

    TreeParameters parameters_;
};

struct AlgorithmName;

// What the registry has of this family.

AlgorithmPtr parse_tree(const AlgorithmName& name, Collective collective);

/// Every rule for the order between clusters: undivided with the local tree that is the best for that size,
/// in segments with chains and binary trees, for several sizes of segments; each with messages to other
/// clusters from the leader, and from several. Where a link holds up several clusters in a pipeline, slow
/// ones last.
void propose_trees(Pricing& pricing, std::vector<Candidate>& found);

/// The best pipeline of each kind in several lanes, where that may be the fastest of all and is no little
/// gain. Flows that share a link have unequal parts of it, and all wait for the slowest one: what lanes gain
/// there must be more than that.
void propose_lanes(Pricing& pricing, std::vector<Candidate>& found);

/// The best order for the best tree so far.
void propose_best_order(Pricing& pricing, std::vector<Candidate>& found);

}  // namespace laple
