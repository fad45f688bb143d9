// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/order_rule.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/index.hpp"
#include "collectives/trees/best_order.hpp"
#include "collectives/trees/heuristics.hpp"

namespace laple {
namespace {

constexpr std::string_view kNearest = "nearest";
constexpr std::string_view kFlat = "flat";
constexpr int kMostMoves = 300;     // trees that are looked at while clusters are moved
constexpr int kMostToImprove = 16;  // clusters, for which that is worth its time

/// The tree as each cluster's sender.
std::vector<int> senders_of(const SendOrder& order, int clusters) {
    std::vector<int> sender(at(clusters), -1);
    for (const Send& send : order) sender[at(send.to)] = send.from;
    return sender;
}

bool is_below(const std::vector<int>& sender, int cluster, int top) {
    for (; cluster >= 0; cluster = sender[at(cluster)]) {
        if (cluster == top) return true;
    }
    return false;
}

/// The same messages, each after the one that brings its sender the data; else in the old order.
SendOrder in_legal_order(const SendOrder& wanted, int root, int clusters) {
    SendOrder order;
    std::vector<bool> has(at(clusters), false);
    has[at(root)] = true;
    std::vector<bool> is_sent(wanted.size(), false);
    while (order.size() < wanted.size()) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (is_sent[i] || !has[at(wanted[i].from)]) continue;
            is_sent[i] = true;
            has[at(wanted[i].to)] = true;
            order.push_back(wanted[i]);
        }
    }
    return order;
}

/// Whether each message comes after the one that brings its sender the data.
bool is_legal(const SendOrder& order, int root) {
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto brings = [&](const Send& send) { return send.to == order[i].from; };
        const auto end = order.begin() + static_cast<std::ptrdiff_t>(i);
        if (order[i].from != root && std::none_of(order.begin(), end, brings)) return false;
    }
    return true;
}

/// How many times as long as another's may the time be in which a cluster is served that is not slow.
constexpr double kAlike = 1.25;
constexpr double kAny = std::numeric_limits<double>::infinity();

/// From each cluster to the nearest of those that wait and are served in `alike` times the least gap.
SendOrder nearest_chain(const SegmentTimes& times, int root, double alike = kAny) {
    std::vector<bool> has(at(times.count()), false);
    has[at(root)] = true;
    SendOrder order;
    for (int from = root; order.size() + 1 < has.size(); from = order.back().to) {
        double least = kAny;
        for (int to = 0; alike < kAny && to < times.count(); ++to) {
            if (!has[at(to)]) least = std::min(least, times.gap(from, to));
        }
        int nearest = -1;
        const auto trip = [&](int to) { return times.gap(from, to) + times.latency(from, to); };
        for (int to = 0; to < times.count(); ++to) {
            if (has[at(to)] || times.gap(from, to) > alike * least) continue;
            if (nearest < 0 || trip(to) < trip(nearest)) nearest = to;
        }
        has[at(nearest)] = true;
        order.push_back({from, nearest});
    }
    return order;
}

/// `tree`, made better by moving one cluster at a time to another sender, as long as that helps, but for a
/// bounded effort. Never worse than `tree`.
SendOrder moved(ClusterTree tree, int root, std::uint64_t segments, const SegmentTimes& times,
                TreePricer& pricer) {
    double least = pricer.broadcast(tree, root, segments, times).last;
    const int clusters = times.count();
    if (clusters > kMostToImprove) return std::move(tree.order);
    int looks = 0;
    std::vector<int> sender = senders_of(tree.order, clusters);
    ClusterTree other = tree;
    for (bool is_better = true; is_better;) {
        is_better = false;
        for (std::size_t i = 0; i < tree.order.size(); ++i) {
            for (int from = 0; from < clusters; ++from) {
                if (looks == kMostMoves) return std::move(tree.order);
                const Send send = tree.order[i];
                if (from == send.from || is_below(sender, from, send.to)) continue;
                ++looks;
                other.order = tree.order;
                other.order[i].from = from;
                if (!is_legal(other.order, root)) other.order = in_legal_order(other.order, root, clusters);
                const double price = pricer.broadcast(other, root, segments, times).last;
                if (price >= least) continue;
                least = price;
                std::swap(tree, other);
                sender = senders_of(tree.order, clusters);
                is_better = true;
            }
        }
    }
    return std::move(tree.order);
}

SendOrder best_by_price(const ClusterTree& around, int root, std::uint64_t segments,
                        const ClusterTimes& clusters, const SegmentTimes& times, TreePricer& pricer) {
    std::vector<SendOrder> candidates;
    for (const Heuristic& heuristic : heuristics()) {
        if (heuristic.name != kFlat) candidates.push_back(heuristic.build(clusters, root));
    }
    candidates.push_back(nearest_chain(times, root));
    if (segments > 1 && times.count() <= kMostToImprove)
        candidates.push_back(nearest_chain(times, root, kAlike));
    if (segments == 1) candidates.push_back(best_order(clusters, root, LocalPhase::after_sends).order);
    ClusterTree best = around;
    double least = std::numeric_limits<double>::infinity();
    for (SendOrder& candidate : candidates) {
        ClusterTree tree = around;
        tree.order = std::move(candidate);
        const double price = pricer.broadcast(tree, root, segments, times).last;
        if (price >= least) continue;
        least = price;
        best = std::move(tree);
    }
    return moved(std::move(best), root, segments, times, pricer);
}

}  // namespace

std::vector<std::string_view> order_rules() {
    std::vector<std::string_view> names;
    for (const Heuristic& heuristic : heuristics()) {
        if (heuristic.name != kFlat) names.push_back(heuristic.name);
    }
    names.push_back(kNearest);
    names.push_back(kSlowLastRule);
    names.push_back(kBestRule);
    return names;
}

bool is_order_rule(std::string_view name) {
    const auto names = order_rules();
    return std::find(names.begin(), names.end(), name) != names.end();
}

ClusterTimes cluster_times(Shape within, std::uint64_t segments, const SegmentTimes& times,
                           TreePricer& pricer) {
    ClusterTimes clusters(times.count());
    for (int a = 0; a < times.count(); ++a) {
        clusters.set_local(a, pricer.local(a, within, segments, times));
        for (int b = 0; b < times.count(); ++b) {
            clusters.set_gap(a, b, times.gap(a, b));
            clusters.set_latency(a, b, times.latency(a, b));
        }
    }
    return clusters;
}

SendOrder order_by(std::string_view rule, const ClusterTree& around, int root, std::uint64_t segments,
                   const ClusterTimes& clusters, const SegmentTimes& times, TreePricer& pricer) {
    if (rule == kNearest) return nearest_chain(times, root);
    if (rule == kSlowLastRule) return nearest_chain(times, root, kAlike);
    if (rule == kBestRule) return best_by_price(around, root, segments, clusters, times, pricer);
    return heuristic_named(rule)->build(clusters, root);
}

}  // namespace laple
