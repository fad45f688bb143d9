// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/probe_rounds.hpp"
#include "topology/survey.hpp"

namespace laple {

/// The clusters that a survey has found so far, the nodes that it has placed in them, and the latencies that
/// it knows, in seconds: of some n log n of n² pairs.
class KnownClusters {
  public:
    explicit KnownClusters(int nodes) : cluster_of_(static_cast<std::size_t>(nodes), -1) {}

    int count() const { return static_cast<int>(members_.size()); }
    /// -1: it has not been placed.
    int cluster_of(int node) const { return cluster_of_[static_cast<std::size_t>(node)]; }
    bool is_placed(int node) const { return cluster_of(node) >= 0; }
    const std::vector<int>& members(int cluster) const { return members_[static_cast<std::size_t>(cluster)]; }

    void place(int node, int cluster);
    void remove(int node);
    /// Nodes that belong together: they join the cluster that some of them are in, as do the others of all
    /// such clusters; where none is in one, they are a new cluster.
    void place_together(std::span<const int> nodes);

    /// Of several latencies of one pair the least one holds.
    void add(const PairLatency& measured);
    /// Takes medians in and between clusters from the latencies of placed nodes. What is below holds for what
    /// was known, and placed, at that time.
    void learn();

    bool is_measured(NodePair pair) const { return latency(pair).has_value(); }
    bool has_measured(int node, int cluster) const;
    /// Of pairs that were all measured.
    LatencyMatrix matrix_of(std::span<const int> nodes) const;
    /// The cluster of the nearest node that this one has measured with, if that is near enough.
    std::optional<int> nearest_cluster(int node) const;
    /// Whether the latency of two placed nodes is as usual in, or between, their clusters.
    bool fits(NodePair pair) const;
    Findings findings() const;

  private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    std::optional<double> latency(NodePair pair) const;
    double distance(int a, int b) const;
    double limit(int cluster) const;

    std::map<std::pair<int, int>, double> latencies_;  // ordered: the outcome depends on nothing else
    std::vector<int> cluster_of_;                      // by node
    std::vector<std::vector<int>> members_;
    std::vector<double> width_;
    std::vector<double> nearest_;
    std::map<std::pair<int, int>, double> distance_;
    double usual_width_ = 0;
};

}  // namespace laple
