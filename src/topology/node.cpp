// SPDX-License-Identifier: BSD-3-Clause
#include "topology/node.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"

namespace laple {
namespace {

/// Those of kNodeLevelKinds but the first.
constexpr std::array<int Placement::*, kNodeLevelKinds.size() - 1> kParts{&Placement::package,
                                                                          &Placement::numa, &Placement::l3};

std::vector<int> node_of_each_rank(const std::vector<Node>& nodes) {
    std::vector<int> node_of(at(rank_count(nodes)));
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        for (const Rank rank : nodes[node].ranks) node_of[at(rank)] = static_cast<int>(node);
    }
    return node_of;
}

/// `outer`, with its groups divided by `part` on those nodes where every rank is in one.
std::vector<std::vector<Rank>> divided(const std::vector<std::vector<Rank>>& outer,
                                       const std::vector<Node>& nodes,
                                       const std::vector<Placement>& placements, int Placement::*part) {
    std::vector<std::pair<int, int>> keys;
    for (const int group : group_of_each(outer, at(rank_count(nodes)))) keys.emplace_back(group, kNoPart);
    for (const Node& node : nodes) {
        const bool is_known = std::none_of(node.ranks.begin(), node.ranks.end(),
                                           [&](Rank rank) { return placements[at(rank)].*part == kNoPart; });
        if (!is_known) continue;
        for (const Rank rank : node.ranks) keys[at(rank)].second = placements[at(rank)].*part;
    }
    return grouped(keys);
}

}  // namespace

int rank_count(const std::vector<Node>& nodes) {
    std::size_t count = 0;
    for (const Node& node : nodes) count += node.ranks.size();
    return static_cast<int>(count);
}

Topology topology_of(const std::vector<Clusters>& levels, const std::vector<Node>& nodes) {
    const std::vector<int> node_of = node_of_each_rank(nodes);
    std::vector<std::vector<int>> labels;
    for (const Clusters& clusters : levels) {
        const std::vector<int> cluster_of = group_of_each(clusters, nodes.size());
        auto& level = labels.emplace_back();
        for (const int node : node_of) level.push_back(cluster_of[at(node)]);
    }
    return Topology::from_labels(rank_count(nodes), labels);
}

std::vector<std::string> sorted_hosts(const std::vector<Node>& nodes) {
    std::vector<std::string> hosts;
    for (const Node& node : nodes) hosts.push_back(node.key());
    std::sort(hosts.begin(), hosts.end());
    return hosts;
}

void label_hosts(std::vector<Node>& nodes) {
    std::map<std::string, std::vector<Node*>> by_name;
    for (Node& node : nodes) by_name[node.host].push_back(&node);
    for (auto& [name, namesakes] : by_name) {
        if (namesakes.size() == 1) {
            namesakes.front()->id.clear();
            continue;
        }
        std::stable_sort(namesakes.begin(), namesakes.end(),
                         [](const Node* a, const Node* b) { return a->id < b->id; });
        int number = 1;
        for (Node* node : namesakes) {
            // Another host may really have such a name.
            while (number > 1 && by_name.contains(fmt::format("{} ({})", name, number))) ++number;
            if (number > 1) node->host = fmt::format("{} ({})", name, number);
            ++number;
        }
    }
}

std::string describe_labels(const std::vector<Node>& nodes) {
    std::vector<std::string> labels;
    for (const Node& node : nodes) {
        if (!node.id.empty()) labels.push_back(node.host);
    }
    std::sort(labels.begin(), labels.end(), [](const std::string& a, const std::string& b) {
        return std::pair(a.size(), a) < std::pair(b.size(), b);
    });
    return labels.empty() ? ""
                          : fmt::format("hosts that share a name are called {}", fmt::join(labels, ", "));
}

bool is_divided(const Node& host, const Topology& topology) {
    return std::any_of(host.ranks.begin(), host.ranks.end(), [&](Rank rank) {
        return topology.cluster_of(rank) != topology.cluster_of(host.ranks.front());
    });
}

std::vector<int> host_of_ranks(const Topology& topology, const std::vector<Node>& nodes) {
    std::vector<int> host_of(at(topology.size()));
    std::iota(host_of.begin(), host_of.end(), static_cast<int>(nodes.size()));
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        if (is_divided(nodes[node], topology)) continue;
        for (const Rank rank : nodes[node].ranks) host_of[at(rank)] = static_cast<int>(node);
    }
    return host_of;
}

std::vector<int> by_name(const std::vector<Node>& nodes) {
    std::vector<int> order = all_below(nodes.size());
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return nodes[at(a)].host < nodes[at(b)].host; });
    return order;
}

std::vector<NodeLevel> node_levels_of(const std::vector<Node>& nodes,
                                      const std::vector<Placement>& placements) {
    std::vector<NodeLevel> levels;
    std::vector<std::vector<Rank>> outer = grouped(node_of_each_rank(nodes));
    if (outer.size() > 1 && outer.size() < at(rank_count(nodes)))
        levels.push_back({kNodeLevelKinds.front(), outer});
    if (placements.empty()) return levels;
    for (std::size_t kind = 0; kind < kParts.size(); ++kind) {
        std::vector<std::vector<Rank>> inner = divided(outer, nodes, placements, kParts[kind]);
        if (inner.size() == outer.size()) continue;
        levels.push_back({kNodeLevelKinds[kind + 1], inner});
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
