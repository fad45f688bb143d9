// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/trees/striped_trees.hpp"

#include <algorithm>
#include <numeric>

#include "base/index.hpp"
#include "collectives/trees/host_tree.hpp"

namespace laple {

StripedTrees::StripedTrees(const Machine& machine, const SendOrder& order, Shape within, Rank root)
    : machine_(machine), within_(within), root_(root) {
    add_clusters();
    join(order);
}

void StripedTrees::add_clusters() {
    clusters_.resize(at(machine_.cluster_count()));
    for (int number = 0; number < machine_.cluster_count(); ++number) {
        const auto hosts = machine_.hosts_in(number);
        Cluster& added = cluster(number);
        added.hosts.assign(hosts.begin(), hosts.end());
        const auto root = std::find(added.hosts.begin(), added.hosts.end(), machine_.host_of(root_));
        if (root != added.hosts.end()) {
            std::rotate(added.hosts.begin(), root, root + 1);
            added.fixed = hosts.size() > 1 ? 1 : 0;
        }
        added.inside = &inside(static_cast<int>(hosts.size()), added.fixed);
    }
}

void StripedTrees::join(const SendOrder& order) {
    std::vector<std::vector<int>> loads(clusters_.size());  // by cluster, by place
    for (const Send& send : order) {
        Cluster& from = cluster(send.from);
        Cluster& to = cluster(send.to);
        auto& load = loads[at(send.from)];
        for (std::size_t place = load.size(); place < from.hosts.size(); ++place)
            load.push_back(static_cast<int>(from.inside->links.children[place].size()));
        to.parent = send.from;
        to.parent_place = least_loaded(from, load);
        to.depth = from.depth + 1;
        ++load[at(to.parent_place)];
        from.to.push_back(send.to);
        from.from.push_back(to.parent_place);
    }
    const auto others = [](const Cluster& c) { return static_cast<int>(c.hosts.size()) - c.fixed; };
    for (Cluster& each : clusters_)
        each.round = std::lcm(each.parent < 0 ? 1 : others(cluster(each.parent)), others(each));
}

StripedTrees::Place StripedTrees::least_loaded(const Cluster& cluster, const std::vector<int>& load) {
    const auto is_less = [&](std::size_t a, std::size_t b) {
        return load[a] != load[b] ? load[a] < load[b] : cluster.inside->depth[a] < cluster.inside->depth[b];
    };
    auto best = at(cluster.fixed);
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
        inside.depth.push_back(parent < 0 ? 0 : inside.depth[at(parent)] + 1);
    return inside;
}

/// When every sender of the previous cluster has sent to every receiver here, the two shift against each
/// other.
int StripedTrees::shift(const Cluster& cluster, int lane) {
    const int others = static_cast<int>(cluster.hosts.size()) - cluster.fixed;
    return (lane + cluster.depth * (lane / cluster.round)) % others;
}

Rank StripedTrees::leader_at(const Cluster& cluster, Place place, int lane) const {
    int number = 0;
    if (place >= cluster.fixed) {
        const int others = static_cast<int>(cluster.hosts.size()) - cluster.fixed;
        number = cluster.fixed + (place - cluster.fixed + shift(cluster, lane)) % others;
    }
    return leader_on(machine_, cluster.hosts[at(number)], lane, root_);
}

StripedTrees::Place StripedTrees::place_of(const Cluster& cluster, Host host, int lane) {
    const auto found = std::find(cluster.hosts.begin(), cluster.hosts.end(), host);
    const auto number = static_cast<int>(found - cluster.hosts.begin());
    if (number < cluster.fixed) return number;
    const int others = static_cast<int>(cluster.hosts.size()) - cluster.fixed;
    return cluster.fixed + (number - cluster.fixed + others - shift(cluster, lane)) % others;
}

RankLinks StripedTrees::links(int lane, Rank rank) const {
    const Host host = machine_.host_of(rank);
    const Rank leader = leader_on(machine_, host, lane, root_);
    const RankLinks on_host = links_on_host(machine_, rank, leader, shape_on_host(true));
    if (rank != leader) return on_host;
    RankLinks links;
    add_links_between_hosts(lane, rank, links);
    links.children.insert(links.children.end(), on_host.children.begin(), on_host.children.end());
    return links;
}

void StripedTrees::add_links_between_hosts(int lane, Rank rank, RankLinks& links) const {
    const Host host = machine_.host_of(rank);
    const Cluster& home = cluster(machine_.cluster_of(host));
    const Place place = place_of(home, host, lane);
    const ShapeLinks& inside = home.inside->links;
    const int parent = inside.parent[at(place)];
    if (parent >= 0) {
        links.parent = leader_at(home, parent, lane);
    } else if (home.parent >= 0) {
        links.parent = leader_at(cluster(home.parent), home.parent_place, lane);
    }
    for (std::size_t i = 0; i < home.to.size(); ++i) {
        if (home.from[i] == place) links.children.push_back(leader_at(cluster(home.to[i]), 0, lane));
    }
    for (const int child : inside.children[at(place)]) links.children.push_back(leader_at(home, child, lane));
}

Tree StripedTrees::tree(int lane) const {
    Tree tree = Tree::lone_root(machine_.rank_count(), root_);
    for (Rank rank = 0; rank < machine_.rank_count(); ++rank) {
        for (const Rank child : links(lane, rank).children) tree.link(rank, child);
    }
    return tree;
}

LaneTrees::LaneTrees(const Machine& machine, const std::vector<SendOrder>& orders, int lanes, Shape within,
                     Rank root)
    : lanes_of_each_((lanes - 1) / static_cast<int>(orders.size()) + 1) {
    for (const SendOrder& order : orders) trees_.emplace_back(machine, order, within, root);
}

}  // namespace laple
