// SPDX-License-Identifier: BSD-3-Clause
#include "topology/typical_pair.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/median.hpp"

namespace laple {
namespace {

constexpr double kNoise = 0.1;  // of the median, that latencies of one network differ from it

constexpr std::size_t kMost = 3;

bool is_apart(const NodePair& pair, const std::vector<NodePair>& others) {
    return std::none_of(others.begin(), others.end(), [&](const NodePair& other) {
        return pair.a == other.a || pair.a == other.b || pair.b == other.a || pair.b == other.b;
    });
}

}  // namespace

TypicalPairs typical_pairs(std::span<const PairLatency> measured, const Clusters& clusters) {
    std::map<int, int> cluster_of;
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        for (const int node : clusters[c]) cluster_of[node] = static_cast<int>(c);
    }
    std::map<int, std::vector<PairLatency>> inside;
    for (const PairLatency& one : measured) {
        const auto a = cluster_of.find(one.pair.a);
        const auto b = cluster_of.find(one.pair.b);
        if (a != cluster_of.end() && b != cluster_of.end() && a->second == b->second)
            inside[a->second].push_back(one);
    }
    TypicalPairs typical;
    for (const auto& [cluster, pairs] : inside) {
        std::vector<double> latencies;
        for (const PairLatency& one : pairs) latencies.push_back(one.latency.count());
        const double usual = median(latencies);
        const auto is_usual = [usual](const PairLatency& one) {
            return std::abs(one.latency.count() - usual) <= kNoise * usual;
        };
        // The median is one of them.
        std::vector<NodePair>& chosen = typical[cluster];
        for (const PairLatency& one : pairs) {
            if (chosen.size() < kMost && is_usual(one) && is_apart(one.pair, chosen))
                chosen.push_back(one.pair);
        }
    }
    return typical;
}

TypicalPairs typical_pairs(const LatencyMatrix& matrix, const Clusters& clusters) {
    std::vector<PairLatency> all;
    for (const std::vector<int>& nodes : clusters) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            for (std::size_t j = i + 1; j < nodes.size(); ++j)
                all.push_back({{nodes[i], nodes[j]}, matrix.at(nodes[i], nodes[j])});
        }
    }
    return typical_pairs(all, clusters);
}

}  // namespace laple
