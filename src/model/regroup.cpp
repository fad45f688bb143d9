// SPDX-License-Identifier: BSD-3-Clause
#include "model/regroup.hpp"

#include <algorithm>
#include <utility>

#include "base/index.hpp"

namespace laple {
namespace {

Seconds inside_of(const Model& from, const ClusterSource& source) {
    if (source.first != source.other && from.between.nodes() > 0)
        return from.between.at(source.first, source.other);
    return from.inside[at(source.first)];
}

Seconds between_of(const Model& from, int a, int b) {
    if (a != b) return from.between.at(a, b);
    return from.inside.empty() ? Seconds(0) : from.inside[at(a)];
}

ClusterModel cluster_of(const LinkModel& rates, const ClusterSource& source) {
    ClusterModel cluster = rates.clusters[at(source.first)];
    const auto [a, b] = std::minmax(source.first, source.other);
    const LinkPair* link = a == b ? nullptr : rates.between(a, b);
    if (link != nullptr) cluster.inside = link->plogp;
    return cluster;
}

/// Adds to `links` what is between clusters `to_a` < `to_b`, which are `from_a` and `from_b` in `rates`, as
/// far as it is known.
void add_link(const LinkModel& rates, int from_a, int from_b, int to_a, int to_b, LinkModel& links) {
    LinkPair link;
    if (from_a == from_b) {
        const ClusterModel& cluster = rates.clusters[at(from_a)];
        if (cluster.inside.gap.is_empty() || !(cluster.nic_out > 0)) return;
        link.plogp = cluster.inside;
        link.there.rate[1] = link.back.rate[1] = cluster.nic_out;
    } else {
        const auto [a, b] = std::minmax(from_a, from_b);
        const LinkPair* known = rates.between(a, b);
        if (known == nullptr) return;
        link = *known;
        if (from_a > from_b) {
            std::swap(link.there, link.back);
            std::swap(link.streams_there, link.streams_back);
        }
    }
    link.a = to_a;
    link.b = to_b;
    links.links.push_back(std::move(link));
}

LinkModel links_of(const LinkModel& from, const std::vector<ClusterSource>& sources) {
    LinkModel links;
    if (from.clusters.empty()) return links;
    links.warnings = from.warnings;
    links.sweeps = from.sweeps;
    links.next_step = from.next_step;
    for (const ClusterSource& source : sources) {
        links.clusters.push_back(cluster_of(from, source));
        const auto has_same = [&](const ClusterSource& other) { return other.first == source.first; };
        const bool is_whole =
            source.first == source.other && std::count_if(sources.begin(), sources.end(), has_same) == 1;
        // A trial told of the former cluster.
        if (!is_whole) links.clusters.back().is_uplink_sure = false;
    }
    const int count = static_cast<int>(sources.size());
    for (int a = 0; a < count; ++a) {
        for (int b = a + 1; b < count; ++b)
            add_link(from, sources[at(a)].first, sources[at(b)].first, a, b, links);
    }
    return links;
}

}  // namespace

void ClusterSource::add(int cluster) {
    if (first < 0) first = other = cluster;
    if (other == first) other = cluster;
}

void take_rates(const Model& from, const std::vector<ClusterSource>& sources, Model& to) {
    const int count = static_cast<int>(sources.size());
    std::vector<Seconds> inside;
    for (const ClusterSource& source : sources) {
        if (!from.inside.empty()) inside.push_back(inside_of(from, source));
    }
    LatencyMatrix between(from.between.nodes() > 0 ? count : 0);
    for (int a = 0; a < between.nodes(); ++a) {
        for (int b = 0; b < a; ++b)
            between.set(a, b, between_of(from, sources[at(a)].first, sources[at(b)].first));
    }
    LinkModel links = links_of(from.links, sources);
    to.inside = std::move(inside);
    to.between = std::move(between);
    to.links = std::move(links);
}

}  // namespace laple
