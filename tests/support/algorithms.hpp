// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/collective.hpp"
#include "collectives/plan.hpp"
#include "collectives/relayed.hpp"
#include "topology/topology.hpp"

namespace laple::test {

/// Names that reach every tree, meeting, segment and lane; `@16` makes many blocks of small messages.
inline std::vector<std::string> algorithm_names(Collective collective) {
    std::vector<std::string> names{
        "flat/flat",
        "flat/binomial",
        "binomial/chain@16",
        "chain/binary@16",
        "3ary/flat@16",
        "spread-flat/chain@16",
        "spread-chain/chain@16",
        "spread-binomial/binomial",
        "flat/native",
        "chain/native",
        "spread-binary/native",
        "binomial",
        "chain/flat/binomial",
        "binary@16",
        "spread-chain/chain@16x3",
        "spread-flat/binary@16x2",
        "spread-binomial/flat@16x7",
    };
    if (collective == Collective::bcast)
        names.insert(names.end(), {"spread-relayed/chain@16x6", "spread-relayed/binary@16x4"});
    if (!is_rooted(collective)) {
        names.insert(names.end(),
                     {"exchange/flat", "exchange/binomial@16", "exchange/chain/binomial@16",
                      "exchange/flat@16x4", "exchange/native", "doubling/chain@16", "doubling/flat@16x3",
                      "doubling/native", "exchange/spread-flat/chain@16", "scatter/flat@16x4",
                      "scatter/flat@16x7", "scatter/binomial@16", "scatter/chain/flat@16", "scatter/native",
                      "regional/flat@16x4", "regional/binary@16x7", "regional/flat", "regional/chain@16"});
    }
    return names;
}

/// What a planner that knows costs would say of relays: all clusters but the root's, where they are wanted.
inline std::vector<int> relays_for(const Algorithm& algorithm, const Topology& topology, Rank root) {
    std::vector<int> relays;
    if (algorithm.order != kRelayedRule) return relays;
    const int level = topology.level_count() - 1;
    for (int cluster = 0; cluster < topology.group_count(level); ++cluster) {
        if (cluster != topology.group_of(level, root)) relays.push_back(cluster);
    }
    return relays;
}

/// What the planner decides by costs, for a meeting, at random; for every other plan nothing: that is what
/// there is without costs.
inline void draw_what_costs_decide(Plan& plan, const Topology& topology, std::mt19937_64& random) {
    if (random() % 2 == 0) return;
    const auto clusters =
        static_cast<std::size_t>(topology.is_flat() ? 1 : topology.group_count(topology.level_count() - 1));
    for (std::size_t c = 0; c < clusters; ++c) plan.pace_bytes.push_back(1 + random() % 64);
    plan.lead_bytes = random() % 256;
    const std::size_t groups =
        static_cast<std::size_t>(topology.is_flat() ? topology.size() : topology.group_count(0));
    if (plan.algorithm.meeting == Meeting::scatter) {
        for (std::size_t g = 0; g < groups; ++g) plan.shares.push_back(static_cast<int>(random() % 3));
        plan.shares[random() % groups] = 1;
    }
    if (plan.algorithm.meeting == Meeting::regional && topology.level_count() == 1) {
        plan.regions.resize(1 + random() % clusters);
        for (std::size_t c = 0; c < clusters; ++c)
            plan.regions[random() % plan.regions.size()].push_back(static_cast<int>(c));
        std::erase_if(plan.regions, [](const auto& region) { return region.empty(); });
    }
}

}  // namespace laple::test
