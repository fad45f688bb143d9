// SPDX-License-Identifier: BSD-3-Clause
#include "model/model_file.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/index.hpp"
#include "model/regroup.hpp"
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

}  // namespace

Model parse_model_file(const std::string& text, const std::string& file) {
    if (is_json_topology(text)) return parse_model(JsonDocument::parse(text, file));
    Model model;
    model.topology = parse_topology(text, file);
    model.nodes = parse_magpie_hosts(text, model.topology.size());
    return model;
}

bool is_by_host(const Model& model) {
    const auto is_in_several = [&](const Node& node) { return is_divided(node, model.topology); };
    return !model.nodes.empty() && std::none_of(model.nodes.begin(), model.nodes.end(), is_in_several);
}

Model model_for(const Model& model, const std::vector<Node>& nodes, const std::vector<Rank>& in_world,
                int world_size, const std::string& file) {
    const bool is_whole_world = static_cast<int>(in_world.size()) == world_size;
    if (is_by_host(model) && is_whole_world)
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
    std::vector<ClusterSource> sources(at(map.topology.cluster_count()));
    for (Rank rank = 0; rank < map.topology.size(); ++rank)
        sources[at(map.topology.cluster_of(rank))].add(rates.topology.cluster_of(rank));
    Model result = map;
    if (result.nodes.empty()) result.nodes = rates.nodes;
    result.mpi = rates.mpi;
    result.date = rates.date;
    take_rates(rates, sources, result);
    result.links.job = rates.links.job;
    return result;
}

}  // namespace laple
