// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/tree_time.hpp"

#include <algorithm>

namespace laple {
namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// One segment between a rank and a child of it, whichever way it goes.
template <bool is_up>
double gap_of(const EdgeTimes& edges, Rank parent, Rank child) {
    return is_up ? edges.gap(child, parent) : edges.gap(parent, child);
}
template <bool is_up>
double latency_of(const EdgeTimes& edges, Rank parent, Rank child) {
    return is_up ? edges.latency(child, parent) : edges.latency(parent, child);
}

/// A reduction is a broadcast with time running backwards, so both take the same on reversed edges.
template <bool is_up>
double time_along(const Tree& tree, std::uint64_t segments, const EdgeTimes& edges) {
    struct Visit {
        Rank rank;
        double first;     // segment is there
        double interval;  // between segments
    };
    const auto more = static_cast<double>(segments - 1);
    std::vector<Visit> open{{tree.root, 0, 0}};
    double last = 0;
    while (!open.empty()) {
        const Visit visit = open.back();
        open.pop_back();
        last = std::max(last, visit.first + more * visit.interval);
        const auto& children = tree.children[at(visit.rank)];
        double busy = 0;
        for (const Rank child : children) busy += gap_of<is_up>(edges, visit.rank, child);
        const double interval = std::max(visit.interval, busy);
        double sent = visit.first;
        for (const Rank child : children) {
            sent += gap_of<is_up>(edges, visit.rank, child);
            open.push_back({child, sent + latency_of<is_up>(edges, visit.rank, child), interval});
        }
    }
    return last;
}

}  // namespace

double broadcast_time(const Tree& tree, std::uint64_t segments, const EdgeTimes& edges) {
    return time_along<false>(tree, segments, edges);
}

double reduction_time(const Tree& tree, std::uint64_t segments, const EdgeTimes& edges) {
    return time_along<true>(tree, segments, edges);
}

}  // namespace laple
