// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/index.hpp"

namespace laple {

Topology Topology::flat(int size) {
    return Topology(size);
}

Topology Topology::from_clusters(int size, const std::vector<std::vector<Rank>>& clusters) {
    std::vector<int> labels(at(size), -1);
    for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster) {
        for (const Rank rank : clusters[cluster]) {
            if (rank < 0 || rank >= size) {
                throw Error(fmt::format("rank {} is outside 0…{}", rank, size - 1), "remove it");
            }
            if (labels[at(rank)] >= 0)
                throw Error(fmt::format("rank {} is in two clusters", rank), "remove it from one");
            labels[at(rank)] = static_cast<int>(cluster);
        }
    }
    const auto missing = std::find(labels.begin(), labels.end(), -1);
    if (missing != labels.end()) {
        throw Error(fmt::format("rank {} is in no cluster", missing - labels.begin()), "add it to one");
    }
    return from_labels(size, {labels});
}

Topology Topology::from_labels(int size, const std::vector<std::vector<int>>& labels) {
    Topology topology(size);
    for (const auto& level : labels) topology.add_level(level);
    return topology;
}

int Topology::group_count(int level) const {
    return static_cast<int>(levels_[at(level)].members.size());
}

int Topology::group_of(int level, Rank rank) const {
    return levels_[at(level)].group_of[at(rank)];
}

std::span<const Rank> Topology::members(int level, int group) const {
    return levels_[at(level)].members[at(group)];
}

Topology Topology::restricted_to(std::span<const Rank> ranks) const {
    Topology restricted(static_cast<int>(ranks.size()));
    for (const Rank rank : ranks) {
        if (rank < 0 || rank >= size_) {
            throw Error(fmt::format("rank {} is outside 0…{}", rank, size_ - 1),
                        "use ranks of this topology");
        }
    }
    for (const Level& level : levels_) {
        std::vector<int> labels;
        labels.reserve(ranks.size());
        for (const Rank rank : ranks) labels.push_back(level.group_of[at(rank)]);
        restricted.add_level(labels);
    }
    return restricted;
}

void Topology::add_level(const std::vector<int>& labels) {
    if (labels.size() != at(size_)) {
        throw Error(fmt::format("a level names {} ranks of {}", labels.size(), size_),
                    "give every rank a group");
    }
    Level level;
    level.members = grouped(labels);
    level.group_of = group_of_each(level.members, labels.size());
    if (!levels_.empty()) {
        const Level& outer = levels_.back();
        for (const auto& members : level.members) {
            for (const Rank rank : members) {
                if (outer.group_of[at(rank)] != outer.group_of[at(members.front())]) {
                    throw Error(fmt::format("ranks {} and {} share an inner group but not the outer one",
                                            members.front(), rank),
                                "make each level refine the one before it");
                }
            }
        }
        // The same partition again, or single ranks: nothing that a tree could use.
        if (level.members.size() == outer.members.size() || level.members.size() == labels.size()) return;
    }
    if (level.members.size() <= 1) return;
    levels_.push_back(std::move(level));
}

std::string describe(const Topology& topology) {
    std::string text = fmt::format("{} ranks", topology.size());
    if (topology.is_flat()) return text + " in one cluster";
    const int innermost = topology.level_count() - 1;
    for (int level = innermost; level >= 0; --level) {
        std::string sizes;
        for (int group = 0; group < topology.group_count(level); ++group) {
            sizes += fmt::format("{}{}", group == 0 ? "" : " ", topology.members(level, group).size());
        }
        text += fmt::format(" in {} {} ({})", topology.group_count(level),
                            level == innermost ? "clusters" : "groups", sizes);
    }
    return text;
}

}  // namespace laple
