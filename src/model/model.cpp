// SPDX-License-Identifier: BSD-3-Clause
#include "model/model.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "base/json.hpp"
#include "model/regroup.hpp"
#include "model/unfinished.hpp"
#include "plogp/link_model_json.hpp"
#include "topology/topology_file.hpp"
#include "topology/typical_pair.hpp"

namespace laple {
namespace {

Json rows_of(const LatencyMatrix& matrix) {
    Json rows = Json::array();
    for (int a = 0; a < matrix.nodes(); ++a) {
        Json row = Json::array();
        for (int b = 0; b < matrix.nodes(); ++b) row.push_back(matrix.at(a, b).count());
        rows.push_back(std::move(row));
    }
    return rows;
}

/// A matrix of `count` rows; the mean where a hand has made it asymmetric.
LatencyMatrix read_matrix(const JsonReader& in, const std::string& pointer, std::size_t count) {
    if (in.array(pointer).size() != count)
        throw in.wrong(pointer, fmt::format("does not have {} rows", count), "give a row for each");
    const auto latency = [&](std::size_t a, std::size_t b) {
        return in.at_least_0(item_pointer(item_pointer(pointer, a), b), "seconds");
    };
    for (std::size_t a = 0; a < count; ++a) {
        if (in.array(item_pointer(pointer, a)).size() != count)
            throw in.wrong(item_pointer(pointer, a), fmt::format("does not have {} numbers", count),
                           "give a number for each");
    }
    LatencyMatrix matrix(static_cast<int>(count));  // not before: a file could ask for any size
    for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < a; ++b)
            matrix.set(static_cast<int>(a), static_cast<int>(b),
                       Seconds(std::midpoint(latency(a, b), latency(b, a))));  // their sum may be infinite
    }
    return matrix;
}

std::string optional_text(const JsonReader& in, const std::string& pointer) {
    return in.has(pointer) ? in.text(pointer) : "";
}

std::vector<Node> read_hosts(const JsonReader& in, int ranks) {
    std::vector<Node> nodes;
    std::vector<bool> is_named(at(ranks), false);
    for (const std::string& host : in.items("/hosts")) {
        Node& node = nodes.emplace_back();
        node.host = in.text(host + "/name");
        node.id = optional_text(in, host + "/id");
        for (const std::string& item : in.items(host + "/ranks")) {
            const Rank rank = in.whole(item, 0, ranks - 1);
            if (is_named[at(rank)])
                throw in.wrong(item, fmt::format("repeats rank {}", rank), "put it on one host");
            is_named[at(rank)] = true;
            node.ranks.push_back(rank);
        }
        if (node.ranks.empty())
            throw in.wrong(host + "/ranks", "is empty", "leave out hosts that run no rank");
        std::sort(node.ranks.begin(), node.ranks.end());
    }
    const auto missing = std::find(is_named.begin(), is_named.end(), false);
    if (!nodes.empty() && missing != is_named.end()) {
        throw in.wrong("/hosts", fmt::format("does not name rank {}", missing - is_named.begin()),
                       "put every rank on a host");
    }
    return nodes;
}

void expect_known_hosts(const Model& model, const std::vector<Node>& nodes, const std::string& file) {
    const auto then = sorted_hosts(model.nodes);
    const auto now = sorted_hosts(nodes);
    std::vector<std::string> gone;
    std::vector<std::string> added;
    std::set_difference(then.begin(), then.end(), now.begin(), now.end(), std::back_inserter(gone));
    std::set_difference(now.begin(), now.end(), then.begin(), then.end(), std::back_inserter(added));
    if (added.empty()) return;
    std::string difference = fmt::format("does not know {}", list_names(added));
    if (!gone.empty()) difference += fmt::format(" and describes {}, not in this job", list_names(gone));
    throw Error({file, 0, 0}, difference, "run laple-discover on this job's hosts");
}

struct Moved {
    Topology topology;
    bool is_whole;  ///< with all levels that mean something for this job
};

/// Level by level, the group of each of this job's ranks; levels that divide a host are left out.
Moved moved(const Model& model, const std::vector<Node>& nodes) {
    std::map<std::string, const Node*> before;
    for (const Node& node : model.nodes) before[node.key()] = &node;
    std::vector<std::vector<int>> levels;
    for (int level = 0; level < model.topology.level_count(); ++level) {
        std::vector<int> labels(at(rank_count(nodes)));
        for (const Node& node : nodes) {
            const auto& ranks = before.at(node.key())->ranks;
            const int group = model.topology.group_of(level, ranks.front());
            for (const Rank rank : ranks) {
                if (model.topology.group_of(level, rank) != group)
                    return {Topology::from_labels(rank_count(nodes), levels), false};
            }
            for (const Rank rank : node.ranks) labels[at(rank)] = group;
        }
        levels.push_back(std::move(labels));
    }
    return {Topology::from_labels(rank_count(nodes), levels), true};
}

/// The clusters of `from` that each cluster of `to` has hosts of.
std::vector<ClusterSource> sources_of(const Model& from, const Model& to) {
    std::vector<ClusterSource> sources(at(to.topology.cluster_count()));
    std::map<std::string, int> cluster_of;
    for (const Node& node : from.nodes) cluster_of[node.key()] = from.topology.cluster_of(node.ranks.front());
    for (const Node& node : to.nodes)
        sources[at(to.topology.cluster_of(node.ranks.front()))].add(cluster_of.at(node.key()));
    return sources;
}

LatencyMatrix reordered(const LatencyMatrix& matrix, const std::vector<int>& matches) {
    if (matrix.nodes() == 0) return matrix;
    LatencyMatrix result(static_cast<int>(matches.size()));
    for (int a = 0; a < result.nodes(); ++a) {
        for (int b = 0; b < a; ++b) result.set(a, b, matrix.at(matches[at(a)], matches[at(b)]));
    }
    return result;
}

std::vector<int> matching_nodes(const Model& from, const Model& to) {
    std::map<std::string, int> index;
    for (std::size_t i = 0; i < from.nodes.size(); ++i) index[from.nodes[i].key()] = static_cast<int>(i);
    std::vector<int> matches;
    for (const Node& node : to.nodes) matches.push_back(index.at(node.key()));
    return matches;
}

/// Inside on the diagonal; 0 where that is not known.
std::vector<std::vector<Seconds>> latencies_of(const LatencyMatrix& between,
                                               const std::vector<Seconds>& inside) {
    std::vector<std::vector<Seconds>> latencies;
    for (int a = 0; a < between.nodes(); ++a) {
        auto& row = latencies.emplace_back();
        for (int b = 0; b < between.nodes(); ++b) row.push_back(between.at(a, b));
        if (at(a) < inside.size()) row[at(a)] = inside[at(a)];
    }
    return latencies;
}

}  // namespace

std::string model_text(const Model& model) {
    Json document;
    document["format"] = kModelFormat;
    document["date"] = model.date;
    document["version"] = model.version;
    document["mpi"] = model.mpi;
    document["tolerance"] = model.tolerance;
    write_topology_json(model.topology, document);
    document["hosts"] = Json::array();
    for (const Node& node : model.nodes) {
        document["hosts"].push_back({{"name", node.host}, {"ranks", node.ranks}});
        if (!node.id.empty()) document["hosts"].back()["id"] = node.id;
    }
    write_node_levels(model.node_levels, document);
    if (model.matrix.nodes() > 0) document["matrix"] = rows_of(model.matrix);
    for (const Seconds latency : model.inside) document["inside"].push_back(latency.count());
    if (model.between.nodes() > 0) document["between"] = rows_of(model.between);
    document["pairs"] = model.pairs;
    if (!model.links.clusters.empty()) write_link_model_json(model.links, document);
    return json_text(document) + "\n";
}

Model parse_model(const JsonDocument& document) {
    const Json& root = document.root();
    if (root.is_object() && root.contains("format") && root["format"] == kUnfinishedFormat) {
        throw document.error("/format", "is that of an unfinished measurement",
                             "give it to laple-discover --resume");
    }
    Model model;
    model.topology = parse_topology_json(document);
    const JsonReader in(document, kModelFormat);
    model.date = optional_text(in, "/date");
    model.version = optional_text(in, "/version");
    model.mpi = optional_text(in, "/mpi");
    if (in.has("/tolerance")) model.tolerance = in.at_least_0("/tolerance", "a part, for example 0.3");
    if (in.has("/hosts")) model.nodes = read_hosts(in, model.topology.size());
    model.node_levels = parse_node_levels(in, model.topology.size());
    const std::size_t clusters = at(model.topology.cluster_count());
    if (in.has("/inside")) {
        if (in.array("/inside").size() != clusters)
            throw in.wrong("/inside", fmt::format("does not hold {} numbers", clusters),
                           "give one for each cluster");
        for (const std::string& item : in.items("/inside"))
            model.inside.emplace_back(in.at_least_0(item, "seconds"));
    }
    if (in.has("/between")) model.between = read_matrix(in, "/between", clusters);
    if (in.has("/matrix")) model.matrix = read_matrix(in, "/matrix", model.nodes.size());
    if (in.has("/pairs")) model.pairs = in.whole("/pairs", 0, 1 << 30);
    if (in.has("/clusters") || in.has("/links"))
        model.links = parse_link_model_json(in, model.topology.cluster_count(), model.topology.size());
    return model;
}

Model adapted_to(const Model& model, const std::vector<Node>& nodes, const std::string& file) {
    if (model.nodes == nodes) return model;
    expect_known_hosts(model, nodes, file);
    Model result = model;
    result.nodes = nodes;
    const auto [topology, is_whole] = moved(model, nodes);
    result.topology = topology;
    result.node_levels = node_levels_of(nodes, {});
    if (model.matrix.nodes() > 0) result.matrix = reordered(model.matrix, matching_nodes(model, result));
    if (!is_whole) {
        // The clusters that parameters are about divide hosts: they are no more.
        result.inside.clear();
        result.between = LatencyMatrix(0);
        result.links = {};
        return result;
    }
    take_rates(model, sources_of(model, result), result);
    return result;
}

Model model_of(const Findings& found, const std::vector<Node>& nodes, const ClusteringOptions& options,
               const std::string& mpi) {
    Model model;
    model.mpi = mpi;
    model.tolerance = options.tolerance;
    model.topology = topology_of(cluster_levels(found.between, found.clusters, options), nodes);
    model.nodes = nodes;
    model.inside = found.inside;
    model.between = found.between;
    model.matrix = found.matrix;
    model.pairs = found.pairs;
    return model;
}

Machine machine_of(const Model& model) {
    return {model.topology, host_of_ranks(model.topology, model.nodes)};
}

std::string describe(const Model& model) {
    return model.nodes.empty() ? describe(model.topology) : describe(machine_of(model));
}

LinkSurveyInput link_survey_input(const Findings& found) {
    LinkSurveyInput input{found.clusters, latencies_of(found.between, found.inside)};
    input.typical = found.typical;
    return input;
}

LinkSurveyInput link_survey_input(const Model& model) {
    LinkSurveyInput input;
    input.latency = cluster_latencies(model);
    if (input.latency.empty()) return {};
    input.clusters.resize(at(model.topology.cluster_count()));
    for (std::size_t node = 0; node < model.nodes.size(); ++node) {
        const std::vector<Rank>& ranks = model.nodes[node].ranks;
        const int cluster = model.topology.cluster_of(ranks.front());
        for (const Rank rank : ranks) {
            if (model.topology.cluster_of(rank) != cluster) return {};
        }
        input.clusters[at(cluster)].push_back(static_cast<int>(node));
    }
    if (model.matrix.nodes() > 0) input.typical = typical_pairs(model.matrix, input.clusters);
    return input;
}

std::vector<std::vector<Seconds>> cluster_latencies(const Model& model) {
    if (model.between.nodes() != model.topology.cluster_count()) return {};
    return latencies_of(model.between, model.inside);
}

Seconds farthest(const Model& model) {
    Seconds latency(0);
    for (const Seconds inside : model.inside) latency = std::max(latency, inside);
    for (int a = 0; a < model.between.nodes(); ++a) {
        for (int b = 0; b < a; ++b) latency = std::max(latency, model.between.at(a, b));
    }
    return latency;
}

bool has_near_clusters(const Model& model) {
    return model.inside.size() > 1 && farthest(model) <= kNearClusters;
}

std::string list_names(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 4;
    if (names.size() <= kMost) return fmt::format("{}", fmt::join(names, ", "));
    return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMost - 1, ", "),
                       names.size() - (kMost - 1));
}

}  // namespace laple
