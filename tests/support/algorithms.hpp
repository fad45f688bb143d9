// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/algorithms/rsag.hpp"
#include "collectives/algorithms/scatter_allgather.hpp"
#include "collectives/algorithms/three_level.hpp"
#include "collectives/algorithms/tree.hpp"
#include "collectives/collective/collective.hpp"
#include "topology/machine.hpp"

namespace laple::test {

/// Whether an algorithm of that name is one for that collective.
inline bool is_known_for(const std::string& name, Collective collective) {
    try {
        parse_algorithm(name, collective);
    } catch (const Error&) {
        return false;
    }
    return true;
}

/// Names that reach every family, tree, phase, segment and lane; `@16` makes many segments of small messages.
inline std::vector<std::string> algorithm_names(Collective collective) {
    if (is_gathered(collective))
        return {"ring",
                "multi-leader-exchange",
                "multi-leader-exchange@16",
                "leader-exchange/flat",
                "leader-exchange/chain@16",
                "leader-exchange/binary@16",
                "bruck",
                "leader-ring/flat",
                "leader-ring/chain@16",
                "leader-exchange/binomial"};
    if (is_personalized(collective))
        return {"direct",
                "direct@16",
                "host-aggregation",
                "host-aggregation@16",
                "cluster-aggregation",
                "cluster-aggregation@16"};
    if (is_combined_in_parts(collective))
        return {"direct",
                "direct@16",
                "host-combining",
                "host-combining@16",
                "cluster-combining",
                "cluster-combining@16",
                "cluster-ring@16"};
    if (is_prefix(collective))
        return {"prefix-chain",
                "prefix-chain@16",
                "prefix-exchange",
                "prefix-exchange@16",
                "prefix-exchange/binary",
                "prefix-exchange/3ary",
                "prefix-exchange/binary@16",
                "prefix-owners",
                "prefix-owners@16",
                "prefix-gather"};
    std::vector<std::string> names{
        "flat/flat",
        "flat/binomial",
        "binomial/chain@16",
        "chain/binary@16",
        "3ary/flat@16",
        "multi-leader-flat/chain@16",
        "multi-leader-chain/chain@16",
        "multi-leader-binomial/binomial",
        "flat/native",
        "chain/native",
        "multi-leader-binary/native",
        "binomial",
        "chain/flat/binomial",
        "binary@16",
        "multi-leader-chain/chain@16x3",
        "multi-leader-flat/binary@16x2",
        "multi-leader-binomial/flat@16x7",
    };
    if (collective == Collective::bcast)
        names.insert(names.end(), {"scatter-allgather/chain@16x6", "scatter-allgather/binary@16x4"});
    if (collective == Collective::reduce)
        names.insert(names.end(),
                     {"rsag/flat@16", "rsag/flat@16x4", "rsag/chain/flat@16x7", "rsag/binomial"});
    if (!row_of(collective).is_rooted) {
        names.insert(
            names.end(),
            {"direct-exchange/flat", "direct-exchange/binomial@16", "direct-exchange/chain/binomial@16",
             "direct-exchange/flat@16x4", "direct-exchange/native", "recursive-doubling/chain@16",
             "recursive-doubling/flat@16x3", "recursive-doubling/native",
             "direct-exchange/multi-leader-flat/chain@16", "rsag/flat@16x4", "rsag/flat@16x7",
             "rsag/binomial@16", "rsag/chain/flat@16", "rsag/native", "three-level/flat@16x4",
             "three-level/binary@16x7", "three-level/flat", "three-level/chain@16"});
    }
    for (const char* name :
         {"two-tree", "two-tree@16", "scatter-ring", "scatter-doubling", "halving-gather",
          "halving-gather@16", "halving-doubling", "halving-doubling@16", "multi-leader-halving-gather",
          "multi-leader-halving-doubling", "multi-leader-halving-doubling@16", "pairwise",
          "multi-leader-pairwise", "ring", "dissemination"}) {
        if (is_known_for(name, collective)) names.emplace_back(name);
    }
    return names;
}

/// Those that can do nothing before costs have decided something.
inline std::vector<std::string> names_that_need_costs(Collective collective) {
    if (!is_one_message(collective)) return {};
    return {"nearest/binomial", "jackson/binary@16", "multi-leader-nearest/chain@16",
            "multi-leader-ecef/binary@16x3"};
}

/// Any order in which all of so many clusters get a message from `root`.
inline SendOrder draw_order(int clusters, int root, std::mt19937_64& random) {
    std::vector<int> waiting;
    for (int c = 0; c < clusters; ++c) {
        if (c != root) waiting.push_back(c);
    }
    std::shuffle(waiting.begin(), waiting.end(), random);
    std::vector<int> have{root};
    SendOrder order;
    for (const int to : waiting) {
        order.push_back({have[random() % have.size()], to});
        have.push_back(to);
    }
    return order;
}

/// How much of the message each of so many leaders sums up, one of them some of it at least.
inline std::vector<int> draw_shares(std::size_t leaders, std::mt19937_64& random) {
    std::vector<int> shares;
    for (std::size_t i = 0; i < leaders; ++i) shares.push_back(static_cast<int>(random() % 3));
    shares[random() % leaders] = 1;
    return shares;
}

inline ClusterGroups draw_groups(int clusters, std::mt19937_64& random) {
    ClusterGroups groups(1 + random() % static_cast<std::size_t>(clusters));
    for (int c = 0; c < clusters; ++c) groups[random() % groups.size()].push_back(c);
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
    return groups;
}

/// Some of the clusters that are not the root's, in any order; `clusters` > 1.
inline std::vector<int> draw_relays(int clusters, int root, std::mt19937_64& random) {
    std::vector<int> relays;
    for (const Send& send : draw_order(clusters, root, random)) relays.push_back(send.to);
    relays.resize(1 + random() % relays.size());
    return relays;
}

/// `algorithm` with what the planner decides by costs, at random.
inline AlgorithmPtr draw_what_costs_decide(const AlgorithmPtr& algorithm, const Request& request,
                                           const Machine& machine, std::mt19937_64& random) {
    const int clusters = machine.cluster_count();
    const int root = machine.cluster_of_rank(tree_root(request));
    const AlgorithmName name = parse_name(algorithm->name());
    if (const auto* tree = dynamic_cast<const TreeAlgorithm*>(algorithm.get())) {
        TreeParameters parameters = tree->parameters();
        if (parameters.rule.empty()) return algorithm;
        parameters.order = draw_order(clusters, root, random);
        return std::make_shared<TreeAlgorithm>(std::move(parameters));
    }
    if (const auto rsag = parse_phase(name, "rsag")) {
        const std::size_t leaders =
            clusters == 1 ? static_cast<std::size_t>(machine.host_count()) : machine.groups().size();
        return std::make_shared<Rsag>(*rsag, draw_shares(leaders, random));
    }
    if (const auto three_level = parse_phase(name, "three-level"))
        return std::make_shared<ThreeLevel>(*three_level, draw_groups(clusters, random));
    if (name.first() == "scatter-allgather") {
        return std::make_shared<ScatterAllgather>(parse_level(name, name.last()).shape, name.segment_bytes,
                                                  name.lanes, draw_relays(clusters, root, random));
    }
    return algorithm;
}

/// How far ranks may be ahead, as for messages of some hundred bytes.
inline SendWindows draw_windows(const Machine& machine, std::mt19937_64& random) {
    SendWindows windows;
    windows.channel = random() % 128;
    for (int c = 0; c < machine.cluster_count(); ++c) windows.local.push_back(1 + random() % 64);
    windows.global = random() % 256;
    return windows;
}

}  // namespace laple::test
