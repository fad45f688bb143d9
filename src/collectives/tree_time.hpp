// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/tree.hpp"

namespace laple {

/// What one message of a certain size takes between any two ranks, in seconds. It depends on their clusters
/// only.
class EdgeTimes {
  public:
    EdgeTimes(std::vector<int> cluster_of_rank, int clusters)
        : cluster_of_(std::move(cluster_of_rank)),
          clusters_(static_cast<std::size_t>(clusters)),
          gap_(clusters_ * clusters_),
          latency_(clusters_ * clusters_) {}

    double gap(Rank from, Rank to) const { return gap_[at(from, to)]; }
    double latency(Rank from, Rank to) const { return latency_[at(from, to)]; }

    void set(int from_cluster, int to_cluster, double gap, double latency) {
        gap_[index(from_cluster, to_cluster)] = gap;
        latency_[index(from_cluster, to_cluster)] = latency;
    }

  private:
    std::size_t index(int from, int to) const {
        return static_cast<std::size_t>(from) * clusters_ + static_cast<std::size_t>(to);
    }
    std::size_t at(Rank from, Rank to) const {
        return index(cluster_of_[static_cast<std::size_t>(from)], cluster_of_[static_cast<std::size_t>(to)]);
    }

    std::vector<int> cluster_of_;
    std::size_t clusters_;
    std::vector<double> gap_;
    std::vector<double> latency_;
};

/// How long a broadcast of `segments` segments takes along `tree`, in seconds; `edges` are the times of one
/// of them. Each rank passes a segment on to all its children, in order, then the next one.
///
///     first(c_i) = first(v) + Σ g(v, c_j), j ≤ i, + L(v, c_i)
///     last(c)    = first(c) + (segments - 1) · I(c)        I(c): the busiest rank above c sends one segment
///                                                          to all its children in that time
///
/// On one homogeneous cluster these are the formulas of seed 003's table: for a chain (P-1)(g(s)+L) +
/// g(s)(k-1), for a flat tree (P-1) g(s) k + L. O(ranks).
double broadcast_time(const Tree& tree, std::uint64_t segments, const EdgeTimes& edges);

/// The same backwards: children send, parents combine. What combining takes is part of the gap.
double reduction_time(const Tree& tree, std::uint64_t segments, const EdgeTimes& edges);

}  // namespace laple
