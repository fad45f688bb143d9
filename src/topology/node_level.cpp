// SPDX-License-Identifier: BSD-3-Clause
#include "topology/node_level.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace laple {
namespace {

using Part = int Placement::*;

/// Those of kNodeLevelKinds but the first.
constexpr std::array<Part, kNodeLevelKinds.size() - 1> kParts{&Placement::package, &Placement::numa,
                                                              &Placement::l3};

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// By rank: the number of its group. Groups are numbered by their smallest rank.
struct Partition {
    std::vector<int> group_of;
    int groups = 0;
};

/// Groups of ranks whose keys are equal.
template <typename Key>
Partition partition_by(const std::vector<Key>& keys) {
    Partition partition;
    std::map<Key, int> groups;
    for (const Key& key : keys) {
        const auto [group, is_new] = groups.try_emplace(key, partition.groups);
        if (is_new) ++partition.groups;
        partition.group_of.push_back(group->second);
    }
    return partition;
}

Partition by_node(const std::vector<Node>& nodes) {
    std::vector<int> keys(at(rank_count(nodes)));
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        for (const Rank rank : nodes[node].ranks) keys[at(rank)] = static_cast<int>(node);
    }
    return partition_by(keys);
}

/// `outer`, with its groups divided by `part` on those nodes where every rank is in one.
Partition divided(const Partition& outer, const std::vector<Node>& nodes,
                  const std::vector<Placement>& placements, Part part) {
    std::vector<std::pair<int, int>> keys;
    for (const int group : outer.group_of) keys.emplace_back(group, kNoPart);
    for (const Node& node : nodes) {
        const bool is_known = std::none_of(node.ranks.begin(), node.ranks.end(),
                                           [&](Rank rank) { return placements[at(rank)].*part == kNoPart; });
        if (!is_known) continue;
        for (const Rank rank : node.ranks) keys[at(rank)].second = placements[at(rank)].*part;
    }
    return partition_by(keys);
}

NodeLevel level_of(const char* kind, const Partition& partition) {
    NodeLevel level{kind, {}};
    level.groups.resize(static_cast<std::size_t>(partition.groups));
    for (std::size_t rank = 0; rank < partition.group_of.size(); ++rank)
        level.groups[static_cast<std::size_t>(partition.group_of[rank])].push_back(static_cast<Rank>(rank));
    return level;
}

}  // namespace

std::vector<NodeLevel> node_levels_of(const std::vector<Node>& nodes,
                                      const std::vector<Placement>& placements) {
    std::vector<NodeLevel> levels;
    Partition outer = by_node(nodes);
    if (outer.groups > 1 && outer.groups < rank_count(nodes))
        levels.push_back(level_of(kNodeLevelKinds.front(), outer));
    if (placements.empty()) return levels;
    for (std::size_t kind = 0; kind < kParts.size(); ++kind) {
        Partition inner = divided(outer, nodes, placements, kParts[kind]);
        if (inner.groups == outer.groups) continue;
        levels.push_back(level_of(kNodeLevelKinds[kind + 1], inner));
        outer = std::move(inner);
    }
    return levels;
}

std::string describe(const std::vector<NodeLevel>& levels) {
    std::vector<std::string> kinds;
    for (const NodeLevel& level : levels) {
        if (level.kind == kNodeLevelKinds.front()) continue;
        kinds.push_back(
            fmt::format("{} ({}{})", level.kind, level.groups.size(), kinds.empty() ? " groups" : ""));
    }
    if (kinds.empty()) return "";
    return fmt::format("{} {} inside hosts: {}\n", kinds.size(), kinds.size() == 1 ? "level" : "levels",
                       fmt::join(kinds, ", "));
}

}  // namespace laple
