// SPDX-License-Identifier: BSD-3-Clause
#include "model/model_file.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/index.hpp"
#include "topology/magpie_file.hpp"
#include "topology/topology_file.hpp"

namespace laple {
namespace {

constexpr const char* kMeasureAnew = "run laple-discover with this job's hosts and number of ranks";

/// The name of the host of each rank.
std::vector<std::string> host_of_rank(const std::vector<Node>& nodes, std::size_t ranks) {
    std::vector<std::string> hosts(ranks);
    for (const Node& node : nodes) {
        for (const Rank rank : node.ranks) hosts[at(rank)] = node.host;
    }
    return hosts;
}

std::vector<Node> with_world_ranks(std::vector<Node> nodes, const std::vector<Rank>& in_world) {
    for (Node& node : nodes) {
        for (Rank& rank : node.ranks) rank = in_world[at(rank)];
        std::sort(node.ranks.begin(), node.ranks.end());
    }
    std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.ranks < b.ranks; });
    return nodes;
}

void expect_same_places(const Model& model, const std::vector<Node>& nodes, const std::vector<Rank>& in_world,
                        const std::string& file) {
    const auto then = host_of_rank(model.nodes, at(model.topology.size()));
    const auto now = host_of_rank(nodes, in_world.size());
    for (std::size_t i = 0; i < in_world.size(); ++i) {
        const std::string& before = then[at(in_world[i])];
        if (before == now[i]) continue;
        throw Error(
            {file, 0, 0},
            fmt::format("has rank {} on {}, but in this job it is on {}", in_world[i], before, now[i]),
            kMeasureAnew);
    }
}

/// Where a cluster of a map is in a model: that of its first rank, and another one if it joins several.
struct SourceCluster {
    int first;
    int other;
};

std::vector<SourceCluster> source_clusters(const Topology& map, const Topology& measured) {
    std::vector<SourceCluster> sources(at(map.cluster_count()), {-1, -1});
    for (Rank rank = 0; rank < map.size(); ++rank) {
        SourceCluster& source = sources[at(map.cluster_of(rank))];
        const int there = measured.cluster_of(rank);
        if (source.first < 0) source = {there, there};
        if (source.other == source.first) source.other = there;
    }
    return sources;
}

ClusterModel cluster_of(const LinkModel& rates, const SourceCluster& source) {
    ClusterModel cluster = rates.clusters[at(source.first)];
    const auto [a, b] = std::minmax(source.first, source.other);
    const LinkPair* link = a == b ? nullptr : rates.between(a, b);
    if (link != nullptr) cluster.inside = link->plogp;
    return cluster;
}

/// Adds to `links` what is between cluster `to_a` and `to_b`, which are `from_a` and `from_b` in `rates`, as
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
        if (from_a > from_b) std::swap(link.there, link.back);
    }
    link.a = to_a;
    link.b = to_b;
    links.links.push_back(std::move(link));
}

}  // namespace

Model parse_model_file(const std::string& text, const std::string& file) {
    if (is_json_topology(text)) return parse_model(JsonDocument::parse(text, file));
    Model model;
    model.topology = parse_topology(text, file);
    model.nodes = parse_magpie_hosts(text, model.topology.size());
    return model;
}

Model model_for(const Model& model, const std::vector<Node>& nodes, const std::vector<Rank>& in_world,
                int world_size, const std::string& file) {
    const bool is_whole_world = static_cast<int>(in_world.size()) == world_size;
    // Of clusters that divide a host only the ranks say which is where.
    const bool is_by_host = std::none_of(model.nodes.begin(), model.nodes.end(),
                                         [&](const Node& node) { return is_divided(node, model.topology); });
    if (!model.nodes.empty() && is_by_host && is_whole_world)
        return adapted_to(model, with_world_ranks(nodes, in_world), file);
    if (model.topology.size() != world_size) {
        throw Error({file, 0, 0},
                    fmt::format("describes {} ranks, but this job has {}", model.topology.size(), world_size),
                    kMeasureAnew);
    }
    if (!model.nodes.empty()) expect_same_places(model, nodes, in_world, file);
    return model;
}

Model with_rates(const Model& map, const Model& rates) {
    const int clusters = map.topology.cluster_count();
    const std::vector<SourceCluster> sources = source_clusters(map.topology, rates.topology);
    Model result = map;
    if (result.nodes.empty()) result.nodes = rates.nodes;
    result.mpi = rates.mpi;
    result.date = rates.date;
    const auto latencies = cluster_latencies(rates);
    if (latencies.empty()) return result;
    result.links = {};
    result.links.native = rates.links.native;
    result.links.warnings = rates.links.warnings;
    result.between = LatencyMatrix(clusters);
    result.inside.clear();
    const bool has_rates = !rates.links.clusters.empty();
    for (int a = 0; a < clusters; ++a) {
        const SourceCluster& source = sources[at(a)];
        result.inside.push_back(latencies[at(source.first)][at(source.other)]);
        if (has_rates) result.links.clusters.push_back(cluster_of(rates.links, source));
        for (int b = 0; b < a; ++b) {
            const int first = sources[at(b)].first;
            result.between.set(a, b, latencies[at(source.first)][at(first)]);
            if (has_rates) add_link(rates.links, first, source.first, b, a, result.links);
        }
    }
    std::sort(result.links.links.begin(), result.links.links.end(),
              [](const LinkPair& one, const LinkPair& other) {
                  return std::pair(one.a, one.b) < std::pair(other.a, other.b);
              });
    return result;
}

}  // namespace laple
