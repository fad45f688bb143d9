// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/group_price.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/index.hpp"

namespace laple {
int GroupPricer::hosts_in(const std::vector<int>& group) const {
    return std::accumulate(group.begin(), group.end(), 0,
                           [&](int sum, int cluster) { return sum + pricer_.sizes()[at(cluster)]; });
}

double GroupPricer::lanes_per_host(const std::vector<int>& group) const {
    const int hosts = hosts_in(group);
    return static_cast<double>((lanes_ + hosts - 1) / hosts);
}

SendOrder GroupPricer::inside(const std::vector<int>& group) const {
    const Shape shape = parameters_.between.empty() ? parameters_.within : parameters_.between.front().shape;
    SendOrder order;
    const ShapeLinks links = links_of(shape, static_cast<int>(group.size()));
    for (std::size_t i = 0; i < links.children.size(); ++i) {
        for (const int child : links.children[i]) order.push_back({group[i], group[at(child)]});
    }
    return order;
}

GroupTime GroupPricer::in_tree(const std::vector<int>& group) {
    ClusterTree tree;
    tree.within = parameters_.within;
    tree.order = inside(group);
    const int root = group.front();
    const TreeTime both = pricer_.there_and_back(tree, root, 1, down_, up_);
    const double down = pricer_.broadcast(tree, root, 1, down_).first;
    const bool is_nic = both.binding.kind == Binding::Kind::port;
    GroupTime time{both.first - down, down, both.interval, is_nic ? down_.credit(root) : 0, both.binding};
    const GroupTime near = in_cluster(root);
    time.sends = near.sends;
    time.gets = near.gets;
    for (const Send& send : tree.order) {
        if (send.from != root) continue;
        time.sends += down_.port(root, send.to);
        time.gets += up_.port(root, send.to);
    }
    return time;
}

GroupTime GroupPricer::in_cluster(int cluster) {
    const Members& members = pricer_.members(parameters_.within, pricer_.sizes()[at(cluster)]);
    GroupTime time;
    time.up = up_.on_host(cluster).first;
    time.down = down_.on_host(cluster).first;
    if (members.size() == 1) return time;
    const double sends = down_.port(cluster, cluster);
    const double gets = up_.port(cluster, cluster);
    const auto below = static_cast<double>(members.most_below);
    const auto of_leader = static_cast<double>(members.children_of(0).size());
    time.up += members.until_last(up_, cluster);
    time.down += members.until_last(down_, cluster);
    time.interval = std::max({of_leader * std::max(sends, gets), below * sends + gets, below * gets + sends});
    time.credit = down_.credit(cluster);
    time.binding = {Binding::Kind::port, cluster, cluster};
    time.sends = of_leader * sends;
    time.gets = of_leader * gets;
    return time;
}

/// A host that leads some lanes contributes to all others, and gets the contributions to its own.
GroupTime GroupPricer::in_lanes(const std::vector<int>& group) const {
    const int cluster = group.front();
    const double own = lanes_per_host(group);
    const double led = own * static_cast<double>(hosts_in(group) - 1);
    GroupTime time;
    time.up = up_.on_host(cluster).first;
    time.down = down_.on_host(cluster).first;
    if (led == 0) return time;
    const double given = std::max(static_cast<double>(lanes_) - own, 1.0);
    const auto together = [&](const SegmentTimes& times) {
        const double messages = std::max(led, given);
        const double start = times.start(cluster, cluster);
        return messages * start +
               times.after_credit(cluster, messages * (times.gap(cluster, cluster) - start)) +
               times.latency(cluster, cluster);
    };
    time.up += together(up_);
    time.down += together(down_);
    time.sends = (given + led) * down_.gap(cluster, cluster);
    time.gets = led * up_.gap(cluster, cluster) + given * down_.gap(cluster, cluster);
    time.interval = std::max(time.sends, time.gets);
    time.credit = down_.credit(cluster);
    time.binding = {Binding::Kind::port, cluster, cluster};
    return time;
}

}  // namespace laple
