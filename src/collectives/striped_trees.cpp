// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/striped_trees.hpp"

#include <algorithm>
#include <numeric>

namespace laple {

StripedTrees::StripedTrees(const Topology& topology, const SendOrder& order, Shape within, Rank root)
    : topology_(topology), within_(within), root_(root) {
    add_clusters();
    join(order);
}

void StripedTrees::add_clusters() {
    const int level = topology_.level_count() - 1;
    clusters_.resize(static_cast<std::size_t>(topology_.group_count(level)));
    for (int number = 0; number < topology_.group_count(level); ++number) {
        const auto members = topology_.members(level, number);
        Cluster& added = cluster(number);
        added.members.assign(members.begin(), members.end());
        const auto root = std::find(added.members.begin(), added.members.end(), root_);
        if (root != added.members.end()) {
            std::rotate(added.members.begin(), root, root + 1);
            added.fixed = members.size() > 1 ? 1 : 0;
        }
        added.inside = &inside(static_cast<int>(members.size()), added.fixed);
    }
}

void StripedTrees::join(const SendOrder& order) {
    std::vector<std::vector<int>> loads(clusters_.size());  // by cluster, by place
    for (const Send& send : order) {
        Cluster& from = cluster(send.from);
        Cluster& to = cluster(send.to);
        auto& load = loads[static_cast<std::size_t>(send.from)];
        for (std::size_t place = load.size(); place < from.members.size(); ++place)
            load.push_back(static_cast<int>(from.inside->links.children[place].size()));
        to.before = send.from;
        to.heard_from = least_loaded(from, load);
        to.depth = from.depth + 1;
        ++load[static_cast<std::size_t>(to.heard_from)];
        from.to.push_back(send.to);
        from.from.push_back(to.heard_from);
    }
    const auto others = [](const Cluster& c) { return static_cast<int>(c.members.size()) - c.fixed; };
    for (Cluster& each : clusters_)
        each.round = std::lcm(each.before < 0 ? 1 : others(cluster(each.before)), others(each));
}

StripedTrees::Place StripedTrees::least_loaded(const Cluster& cluster, const std::vector<int>& load) {
    const auto is_less = [&](std::size_t a, std::size_t b) {
        return load[a] != load[b] ? load[a] < load[b] : cluster.inside->depth[a] < cluster.inside->depth[b];
    };
    auto best = static_cast<std::size_t>(cluster.fixed);
    for (std::size_t place = best + 1; place < load.size(); ++place) {
        if (is_less(place, best)) best = place;
    }
    return static_cast<Place>(best);
}

/// Fixed places come first, each with the next one for its child.
const StripedTrees::Inside& StripedTrees::inside(int size, int fixed) {
    const auto [known, is_new] = insides_.try_emplace({size, fixed});
    Inside& inside = known->second;
    if (!is_new) return inside;
    ShapeLinks& links = inside.links;
    for (int place = 0; place < fixed; ++place) {
        links.parent.push_back(place - 1);
        links.children.push_back({place + 1});
    }
    const ShapeLinks others = links_of(within_, size - fixed);
    for (const int parent : others.parent) links.parent.push_back(parent + fixed);
    for (const auto& children : others.children) {
        auto& moved = links.children.emplace_back(children);
        for (int& child : moved) child += fixed;
    }
    for (const int parent : links.parent)  // which comes before its children in every shape
        inside.depth.push_back(parent < 0 ? 0 : inside.depth[static_cast<std::size_t>(parent)] + 1);
    return inside;
}

/// When all who send from the cluster before have had their turns with all here whom they meet, both shift
/// against each other.
int StripedTrees::shift(const Cluster& cluster, int lane) {
    const int others = static_cast<int>(cluster.members.size()) - cluster.fixed;
    return (lane + cluster.depth * (lane / cluster.round)) % others;
}

Rank StripedTrees::rank_at(const Cluster& cluster, Place place, int lane) {
    if (place < cluster.fixed) return cluster.members.front();
    const int others = static_cast<int>(cluster.members.size()) - cluster.fixed;
    const int member = cluster.fixed + (place - cluster.fixed + shift(cluster, lane)) % others;
    return cluster.members[static_cast<std::size_t>(member)];
}

StripedTrees::Place StripedTrees::place_of(const Cluster& cluster, Rank rank, int lane) {
    const auto found = std::find(cluster.members.begin(), cluster.members.end(), rank);
    const auto member = static_cast<int>(found - cluster.members.begin());
    if (member < cluster.fixed) return member;
    const int others = static_cast<int>(cluster.members.size()) - cluster.fixed;
    return cluster.fixed + (member - cluster.fixed + others - shift(cluster, lane)) % others;
}

RankLinks StripedTrees::links(int lane, Rank rank) const {
    const Cluster& home = cluster(topology_.group_of(topology_.level_count() - 1, rank));
    const Place place = place_of(home, rank, lane);
    const ShapeLinks& links = home.inside->links;
    RankLinks found;
    const int parent = links.parent[static_cast<std::size_t>(place)];
    if (parent >= 0) {
        found.parent = rank_at(home, parent, lane);
    } else if (home.before >= 0) {
        found.parent = rank_at(cluster(home.before), home.heard_from, lane);
    }
    for (std::size_t i = 0; i < home.to.size(); ++i) {
        if (home.from[i] == place) found.children.push_back(rank_at(cluster(home.to[i]), 0, lane));
    }
    for (const int child : links.children[static_cast<std::size_t>(place)])
        found.children.push_back(rank_at(home, child, lane));
    return found;
}

Tree StripedTrees::tree(int lane) const {
    Tree tree = Tree::lone_root(topology_.size(), root_);
    for (Rank rank = 0; rank < topology_.size(); ++rank) {
        for (const Rank child : links(lane, rank).children) tree.link(rank, child);
    }
    return tree;
}

LaneTrees::LaneTrees(const Topology& topology, const std::vector<SendOrder>& orders, int lanes, Shape within,
                     Rank root)
    : lanes_of_each_((lanes - 1) / static_cast<int>(orders.size()) + 1) {
    for (const SendOrder& order : orders) trees_.emplace_back(topology, order, within, root);
}

}  // namespace laple
