// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <vector>

#include "topology/clustering.hpp"
#include "topology/latency_matrix.hpp"

namespace laple {

/// Which pairs to look at again, look after look, until none is in doubt or it was looked at often enough.
class Doubts {
  public:
    explicit Doubts(const ClusteringOptions& options) : options_(options) {}

    /// The doubtful pairs of `matrix`, which holds the least latency seen of each pair. One that the last
    /// look has not made shorter is odd, but not disturbed: each look takes its time, of near hosts, too.
    std::vector<NodePair> next(const LatencyMatrix& matrix);

  private:
    ClusteringOptions options_;
    LatencyMatrix before_{0};
    std::set<NodePair> looked_at_;  // in the last look
    int looks_ = 1;
};

}  // namespace laple
