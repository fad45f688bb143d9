// SPDX-License-Identifier: BSD-3-Clause
#include "topology/known_clusters.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include "base/index.hpp"
#include "base/median.hpp"
#include "topology/typical_pair.hpp"

namespace laple {
void KnownClusters::place(int node, int cluster) {
    cluster_of_[at(node)] = cluster;
    members_[at(cluster)].push_back(node);
}

void KnownClusters::remove(int node) {
    std::erase(members_[at(cluster_of(node))], node);
    cluster_of_[at(node)] = -1;
}

void KnownClusters::place_together(std::span<const int> nodes) {
    std::set<int> old;
    for (const int node : nodes) old.insert(cluster_of(node));
    old.erase(-1);
    if (old.empty()) members_.emplace_back();
    const int cluster = old.empty() ? count() - 1 : *old.begin();
    for (const int other : old) {
        if (other == cluster) continue;
        for (const int node : std::vector<int>(members(other))) {
            remove(node);
            place(node, cluster);
        }
    }
    for (const int node : nodes) {
        if (!is_placed(node)) place(node, cluster);
    }
}

void KnownClusters::add(const PairLatency& measured) {
    const auto& [a, b] = measured.pair;
    const double latency = measured.latency.count();
    const auto [entry, is_new] = latencies_.try_emplace(std::minmax(a, b), latency);
    if (!is_new) entry->second = std::min(entry->second, latency);
}

void KnownClusters::learn() {
    std::vector<std::vector<double>> inside(members_.size());
    std::map<std::pair<int, int>, std::vector<double>> between;
    for (const auto& [pair, latency] : latencies_) {
        const auto [low, high] = std::minmax({cluster_of(pair.first), cluster_of(pair.second)});
        if (low < 0) continue;
        if (low == high) inside[at(low)].push_back(latency);
        if (low != high) between[{low, high}].push_back(latency);
    }
    width_.clear();
    std::vector<double> widths;
    for (auto& latencies : inside) {
        width_.push_back(median(latencies));
        if (width_.back() > 0) widths.push_back(width_.back());
    }
    usual_width_ = median(widths);
    distance_.clear();
    nearest_.assign(members_.size(), kInfinity);
    for (auto& [pair, latencies] : between) {
        const double distance = distance_[pair] = median(latencies);
        for (const int cluster : {pair.first, pair.second})
            nearest_[at(cluster)] = std::min(nearest_[at(cluster)], distance);
    }
}

bool KnownClusters::has_measured(int node, int cluster) const {
    return std::any_of(members(cluster).begin(), members(cluster).end(), [&](int member) {
        return is_measured({node, member});
    });
}

LatencyMatrix KnownClusters::matrix_of(std::span<const int> nodes) const {
    LatencyMatrix matrix(static_cast<int>(nodes.size()));
    for (int a = 0; a < matrix.nodes(); ++a) {
        for (int b = 0; b < a; ++b) matrix.set(a, b, Seconds(*latency({nodes[at(a)], nodes[at(b)]})));
    }
    return matrix;
}

std::optional<int> KnownClusters::nearest_cluster(int node) const {
    double best = kInfinity;
    int nearest = -1;
    for (int cluster = 0; cluster < count(); ++cluster) {
        for (const int member : members(cluster)) {
            const auto measured = latency({node, member});
            if (!measured || *measured >= best) continue;
            best = *measured;
            nearest = cluster;
        }
    }
    if (nearest < 0 || best > limit(nearest)) return std::nullopt;
    return nearest;
}

bool KnownClusters::fits(NodePair pair) const {
    const double measured = *latency(pair);
    const int a = cluster_of(pair.a);
    const int b = cluster_of(pair.b);
    if (a == b) return measured <= limit(a);
    return measured > std::max(limit(a), limit(b)) && measured < 2 * distance(a, b);
}

Findings KnownClusters::findings() const {
    Findings found;
    found.pairs = static_cast<int>(latencies_.size());
    std::vector<std::pair<std::vector<int>, int>> order;
    for (int cluster = 0; cluster < count(); ++cluster) {
        if (members(cluster).empty()) continue;
        order.emplace_back(members(cluster), cluster);
        std::sort(order.back().first.begin(), order.back().first.end());
    }
    std::sort(order.begin(), order.end());
    found.between = LatencyMatrix(static_cast<int>(order.size()));
    for (std::size_t a = 0; a < order.size(); ++a) {
        found.clusters.push_back(order[a].first);
        found.inside.emplace_back(width_[at(order[a].second)]);
        for (std::size_t b = 0; b < a; ++b) {
            const double usual = distance(order[a].second, order[b].second);
            if (usual < kInfinity)
                found.between.set(static_cast<int>(a), static_cast<int>(b), Seconds(usual));
        }
    }
    std::vector<PairLatency> measured;
    for (const auto& [pair, latency] : latencies_)
        measured.push_back({{pair.first, pair.second}, Seconds(latency)});
    found.typical = typical_pairs(measured, found.clusters);
    return found;
}

std::optional<double> KnownClusters::latency(NodePair pair) const {
    const auto found = latencies_.find(std::minmax(pair.a, pair.b));
    if (found == latencies_.end()) return std::nullopt;
    return found->second;
}

/// Infinite where nothing was measured.
double KnownClusters::distance(int a, int b) const {
    const auto found = distance_.find(std::minmax(a, b));
    return found == distance_.end() ? kInfinity : found->second;
}

/// Up to which latency from one of its nodes a node belongs to a cluster: what is no doubtful pair in it
/// (doubtful_pairs), and nearer, in ratio, to its width than to its distance from others.
double KnownClusters::limit(int cluster) const {
    const double inside = width_[at(cluster)] > 0 ? width_[at(cluster)] : usual_width_;
    return std::min(2 * inside, std::sqrt(inside * nearest_[at(cluster)]));
}

}  // namespace laple
