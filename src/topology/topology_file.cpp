// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology_file.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/index.hpp"
#include "topology/magpie_file.hpp"

namespace laple {
namespace {

constexpr const char* kNodeLevels = "/node_levels";

/// A list of groups of ranks: the group of each of `ranks` ranks, by its place in the list. Each must be in
/// it once.
std::vector<int> read_groups(const JsonReader& in, const std::string& pointer, int ranks) {
    std::vector<int> labels(at(ranks), -1);
    int group = 0;
    for (const std::string& members : in.items(pointer)) {
        for (const std::string& member : in.items(members)) {
            const Rank rank = in.whole(member, 0, ranks - 1);
            if (labels[at(rank)] >= 0)
                throw in.wrong(member, fmt::format("repeats rank {}", rank), "put each rank into one group");
            labels[at(rank)] = group;
        }
        ++group;
    }
    const auto missing = std::find(labels.begin(), labels.end(), -1);
    if (missing != labels.end()) {
        throw in.wrong(pointer, fmt::format("does not name rank {}", missing - labels.begin()),
                       "name every rank in every level");
    }
    return labels;
}

/// The index of the kind at `pointer` in kNodeLevelKinds, which must be above `previous`.
int read_kind(const JsonReader& in, const std::string& pointer, int previous) {
    const int kind = in.named(pointer, {kNodeLevelKinds.begin(), kNodeLevelKinds.end()});
    if (kind > previous) return kind;
    throw in.wrong(pointer, "is out of order",
                   fmt::format("give each kind once, in the order {}", fmt::join(kNodeLevelKinds, ", ")));
}

/// `labels` and `outer` are the groups of each rank.
void expect_refined(const JsonReader& in, const std::string& pointer, const std::vector<int>& labels,
                    const std::vector<int>& outer) {
    std::vector<int> outer_of(labels.size(), -1);
    for (std::size_t rank = 0; rank < outer.size(); ++rank) {
        int& group = outer_of[at(labels[rank])];
        if (group >= 0 && group != outer[rank]) {
            throw in.wrong(item_pointer(pointer, at(labels[rank])),
                           "holds ranks of several groups of the level before it", "divide it");
        }
        group = outer[rank];
    }
}

}  // namespace

Topology parse_topology_json(const JsonDocument& document) {
    const JsonReader in(document, kModelFormat);
    const int ranks = in.whole("/ranks", 1, kMostRanks);
    std::vector<std::vector<int>> labels;
    for (const std::string& level : in.items("/levels")) labels.push_back(read_groups(in, level, ranks));
    try {
        return Topology::from_labels(ranks, labels);
    } catch (const Error& error) {
        throw in.wrong("/levels", "do not fit together", error.what());
    }
}

void write_topology_json(const Topology& topology, Json& document) {
    document["ranks"] = topology.size();
    Json& levels = document["levels"] = Json::array();
    for (int level = 0; level < topology.level_count(); ++level) {
        Json groups = Json::array();
        for (int group = 0; group < topology.group_count(level); ++group)
            groups.push_back(topology.members(level, group));
        levels.push_back(std::move(groups));
    }
}

std::vector<NodeLevel> parse_node_levels(const JsonReader& in, int ranks) {
    std::vector<NodeLevel> levels;
    if (!in.has(kNodeLevels)) return levels;
    int kind = -1;
    std::vector<int> outer;
    for (const std::string& level : in.items(kNodeLevels)) {
        kind = read_kind(in, level + "/kind", kind);
        const std::string groups = level + "/groups";
        std::vector<int> labels = read_groups(in, groups, ranks);
        for (const std::string& group : in.items(groups)) {
            if (in.array(group).empty()) throw in.wrong(group, "is empty", "leave it out");
        }
        expect_refined(in, groups, labels, outer);
        levels.push_back({kNodeLevelKinds[at(kind)], grouped(labels)});
        outer = std::move(labels);
    }
    return levels;
}

void write_node_levels(const std::vector<NodeLevel>& levels, Json& document) {
    Json& list = document["node_levels"] = Json::array();
    for (const NodeLevel& level : levels) list.push_back({{"kind", level.kind}, {"groups", level.groups}});
}

bool is_json_topology(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first != std::string::npos && text[first] == '{';
}

Topology parse_topology(const std::string& text, const std::string& file, int world_size) {
    if (text.find('\0') != std::string::npos)
        throw Error({file, 0, 0}, "holds a NUL character", "use a text file");
    const Topology topology = is_json_topology(text) ? parse_topology_json(JsonDocument::parse(text, file))
                                                     : parse_magpie(text, file);
    if (world_size > 0 && topology.size() != world_size) {
        throw Error({file, 0, 0},
                    fmt::format("describes {} ranks, but this job has {}", topology.size(), world_size),
                    "run laple-discover with this job's hosts and number of ranks");
    }
    return topology;
}

}  // namespace laple
