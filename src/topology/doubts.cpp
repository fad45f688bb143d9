// SPDX-License-Identifier: BSD-3-Clause
#include "topology/doubts.hpp"

namespace laple {
namespace {

constexpr int kMaxLooks = 6;  // the first one, and those at doubtful pairs
// By which part a look makes latencies shorter that were disturbed before. Noise is a greater part of short
// ones.
constexpr double kImprovement = 0.02;
constexpr double kImprovementOfShort = 0.1;
constexpr Seconds kShort(1e-3);

}  // namespace

std::vector<NodePair> Doubts::next(const LatencyMatrix& matrix) {
    if (looks_++ >= kMaxLooks) return {};
    std::vector<NodePair> pairs = doubtful_pairs(matrix, cluster_nodes(matrix, options_));
    std::erase_if(pairs, [&](const NodePair& pair) {
        const Seconds latency = matrix.at(pair.a, pair.b);
        const double improvement = latency > kShort ? kImprovement : kImprovementOfShort;
        return looked_at_.contains(pair) && latency > (1 - improvement) * before_.at(pair.a, pair.b);
    });
    before_ = matrix;
    looked_at_ = {pairs.begin(), pairs.end()};
    return pairs;
}

}  // namespace laple
