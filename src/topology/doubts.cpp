// SPDX-License-Identifier: BSD-3-Clause
#include "topology/doubts.hpp"

namespace laple {
namespace {

constexpr int kMaxLooks = 6;  // the first one, and those at doubtful pairs
constexpr double kImprovement = 0.02;
constexpr Seconds kLong(1e-3);

}  // namespace

std::vector<NodePair> Doubts::next(const LatencyMatrix& matrix) {
    if (looks_++ >= kMaxLooks) return {};
    std::vector<NodePair> pairs = doubtful_pairs(matrix, cluster_nodes(matrix, options_));
    std::erase_if(pairs, [&](const NodePair& pair) {
        const Seconds latency = matrix.at(pair.a, pair.b);
        return latency > kLong && looked_at_.contains(pair) &&
               latency > (1 - kImprovement) * before_.at(pair.a, pair.b);
    });
    before_ = matrix;
    looked_at_ = {pairs.begin(), pairs.end()};
    return pairs;
}

}  // namespace laple
