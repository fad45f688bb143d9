// SPDX-License-Identifier: BSD-3-Clause
#include "topology/node.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace laple {

int rank_count(const std::vector<Node>& nodes) {
    std::size_t count = 0;
    for (const Node& node : nodes) count += node.ranks.size();
    return static_cast<int>(count);
}

Topology topology_of(const std::vector<Clusters>& levels, const std::vector<Node>& nodes) {
    const int size = rank_count(nodes);
    std::vector<std::vector<int>> labels;
    for (const Clusters& clusters : levels) {
        auto& level = labels.emplace_back(static_cast<std::size_t>(size));
        for (std::size_t group = 0; group < clusters.size(); ++group) {
            for (const int node : clusters[group]) {
                for (const Rank rank : nodes[static_cast<std::size_t>(node)].ranks)
                    level[static_cast<std::size_t>(rank)] = static_cast<int>(group);
            }
        }
    }
    return Topology::from_labels(size, labels);
}

std::vector<int> host_of_ranks(const Topology& topology, const std::vector<Node>& nodes) {
    const int innermost = topology.level_count() - 1;
    std::vector<int> host_of(static_cast<std::size_t>(topology.size()));
    std::iota(host_of.begin(), host_of.end(), static_cast<int>(nodes.size()));
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        const std::vector<Rank>& ranks = nodes[node].ranks;
        const bool is_divided =
            innermost >= 0 && std::any_of(ranks.begin(), ranks.end(), [&](Rank rank) {
                return topology.group_of(innermost, rank) != topology.group_of(innermost, ranks.front());
            });
        if (is_divided) continue;
        for (const Rank rank : ranks) host_of[static_cast<std::size_t>(rank)] = static_cast<int>(node);
    }
    return host_of;
}

std::vector<int> by_name(const std::vector<Node>& nodes) {
    std::vector<int> order(nodes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return nodes[static_cast<std::size_t>(a)].host < nodes[static_cast<std::size_t>(b)].host;
    });
    return order;
}

}  // namespace laple
