// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"

namespace laple {

Topology Topology::flat(int size) {
    return Topology(size);
}

Topology Topology::from_clusters(int size, const std::vector<std::vector<Rank>>& clusters) {
    std::vector<int> labels(static_cast<std::size_t>(size), -1);
    for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster) {
        for (const Rank rank : clusters[cluster]) {
            if (rank < 0 || rank >= size) {
                throw Error(fmt::format("rank {} is outside 0…{}", rank, size - 1), "remove it");
            }
            int& label = labels[static_cast<std::size_t>(rank)];
            if (label >= 0)
                throw Error(fmt::format("rank {} is in two clusters", rank), "remove it from one");
            label = static_cast<int>(cluster);
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
    return static_cast<int>(levels_[static_cast<std::size_t>(level)].members.size());
}

int Topology::group_of(int level, Rank rank) const {
    return levels_[static_cast<std::size_t>(level)].group_of[static_cast<std::size_t>(rank)];
}

std::span<const Rank> Topology::members(int level, int group) const {
    return levels_[static_cast<std::size_t>(level)].members[static_cast<std::size_t>(group)];
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
        for (const Rank rank : ranks) labels.push_back(level.group_of[static_cast<std::size_t>(rank)]);
        restricted.add_level(labels);
    }
    return restricted;
}

void Topology::add_level(const std::vector<int>& labels) {
    if (labels.size() != static_cast<std::size_t>(size_)) {
        throw Error(fmt::format("a level names {} ranks of {}", labels.size(), size_),
                    "give every rank a group");
    }
    Level level;
    level.group_of.reserve(labels.size());
    std::map<int, int> group_of_label;
    for (Rank rank = 0; rank < size_; ++rank) {
        const int label = labels[static_cast<std::size_t>(rank)];
        const auto [entry, is_new] =
            group_of_label.try_emplace(label, static_cast<int>(level.members.size()));
        if (is_new) level.members.emplace_back();
        level.group_of.push_back(entry->second);
        level.members[static_cast<std::size_t>(entry->second)].push_back(rank);
    }
    if (!levels_.empty()) {
        const Level& outer = levels_.back();
        for (const auto& members : level.members) {
            const int group = outer.group_of[static_cast<std::size_t>(members.front())];
            for (const Rank rank : members) {
                if (outer.group_of[static_cast<std::size_t>(rank)] != group) {
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
