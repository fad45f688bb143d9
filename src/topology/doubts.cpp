// SPDX-License-Identifier: BSD-3-Clause
#include "topology/doubts.hpp"

#include <algorithm>
#include <utility>

namespace laple {
namespace {

constexpr int kMaxLooks = 6;  // the first one, and those at doubtful pairs
constexpr double kImprovement = 0.02;
constexpr Seconds kLong(1e-3);

bool operator<(const NodePair& a, const NodePair& b) {
    return std::pair(a.a, a.b) < std::pair(b.a, b.b);
}

}  // namespace

std::vector<NodePair> Doubts::next(const LatencyMatrix& matrix) {
    if (looks_++ >= kMaxLooks) return {};
    std::vector<NodePair> pairs;
    for (const NodePair& pair : doubtful_pairs(matrix, cluster_nodes(matrix, options_))) {
        const Seconds latency = matrix.at(pair.a, pair.b);
        const bool was_looked_at =
            before_.nodes() > 0 &&
            std::binary_search(looked_at_.begin(), looked_at_.end(), pair,
                               [](const NodePair& a, const NodePair& b) { return a < b; });
        const bool is_stable =
            latency > kLong && was_looked_at && latency > (1 - kImprovement) * before_.at(pair.a, pair.b);
        if (!is_stable) pairs.push_back(pair);
    }
    std::sort(pairs.begin(), pairs.end(), [](const NodePair& a, const NodePair& b) { return a < b; });
    before_ = matrix;
    looked_at_ = pairs;
    return pairs;
}

}  // namespace laple
