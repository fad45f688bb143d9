// SPDX-License-Identifier: BSD-3-Clause
#include "topology/node_level_json.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topology/topology_json.hpp"

namespace laple {
namespace {

constexpr const char* kLevels = "/node_levels";

/// The index of the kind at `pointer` in kNodeLevelKinds, which must be above `previous`.
int read_kind(const JsonReader& in, const std::string& pointer, int previous) {
    const int kind = in.named(pointer, {kNodeLevelKinds.begin(), kNodeLevelKinds.end()});
    if (kind > previous) return kind;
    throw in.wrong(pointer, "is out of order",
                   fmt::format("give each kind once, in the order {}", fmt::join(kNodeLevelKinds, ", ")));
}

/// The group of each rank; there are no more groups than ranks.
std::vector<int> read_labels(const JsonReader& in, const std::string& pointer, int ranks) {
    std::vector<int> labels = read_groups(in, pointer, ranks);
    for (std::size_t group = 0; group < in.array(pointer).size(); ++group) {
        if (in.array(item_pointer(pointer, group)).empty())
            throw in.wrong(item_pointer(pointer, group), "is empty", "leave it out");
    }
    return labels;
}

/// `labels` and `outer` are the groups of each rank.
void expect_refined(const JsonReader& in, const std::string& pointer, const std::vector<int>& labels,
                    const std::vector<int>& outer) {
    std::vector<int> outer_of(labels.size(), -1);
    for (std::size_t rank = 0; rank < outer.size(); ++rank) {
        int& group = outer_of[static_cast<std::size_t>(labels[rank])];
        if (group >= 0 && group != outer[rank]) {
            throw in.wrong(item_pointer(pointer, static_cast<std::size_t>(labels[rank])),
                           "holds ranks of several groups of the level before it", "divide it");
        }
        group = outer[rank];
    }
}

/// Groups of ranks with the same label, in the order of their smallest ranks.
std::vector<std::vector<Rank>> groups_of(const std::vector<int>& labels) {
    std::vector<int> place(labels.size(), -1);
    std::vector<std::vector<Rank>> groups;
    for (std::size_t rank = 0; rank < labels.size(); ++rank) {
        int& group = place[static_cast<std::size_t>(labels[rank])];
        if (group < 0) {
            group = static_cast<int>(groups.size());
            groups.emplace_back();
        }
        groups[static_cast<std::size_t>(group)].push_back(static_cast<Rank>(rank));
    }
    return groups;
}

}  // namespace

std::vector<NodeLevel> parse_node_levels(const JsonReader& in, int ranks) {
    std::vector<NodeLevel> levels;
    if (!in.has(kLevels)) return levels;
    int kind = -1;
    std::vector<int> outer;
    for (std::size_t i = 0; i < in.array(kLevels).size(); ++i) {
        kind = read_kind(in, item_pointer(kLevels, i, "/kind"), kind);
        const std::string groups = item_pointer(kLevels, i, "/groups");
        std::vector<int> labels = read_labels(in, groups, ranks);
        expect_refined(in, groups, labels, outer);
        levels.push_back({kNodeLevelKinds[static_cast<std::size_t>(kind)], groups_of(labels)});
        outer = std::move(labels);
    }
    return levels;
}

void write_node_levels(const std::vector<NodeLevel>& levels, Json& document) {
    Json& list = document["node_levels"] = Json::array();
    for (const NodeLevel& level : levels) list.push_back({{"kind", level.kind}, {"groups", level.groups}});
}

}  // namespace laple
