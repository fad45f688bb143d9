// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/trees/hierarchy.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/index.hpp"
#include "collectives/trees/host_tree.hpp"

namespace laple {
namespace {

/// `members` (ascending) turned so that `first` comes first.
std::vector<Host> rotated_to(std::vector<Host> members, Host first) {
    std::rotate(members.begin(), std::find(members.begin(), members.end(), first), members.end());
    return members;
}

/// Ascending.
std::vector<Host> hosts_in(const Machine& machine, const std::vector<int>& clusters) {
    std::vector<Host> hosts;
    for (const int cluster : clusters) {
        const auto here = machine.hosts_in(cluster);
        hosts.insert(hosts.end(), here.begin(), here.end());
    }
    std::sort(hosts.begin(), hosts.end());
    return hosts;
}

/// Builds the tree of a set of hosts level by level, from the inside out: first the trees of the groups, then
/// the edges that join them, so that multi-leader edges can see how much each host has to send already; and
/// in the end what is below the leader of each host.
class HierarchyBuilder {
  public:
    HierarchyBuilder(const Machine& machine, const TreeShape& shape, Rank root, int lane = 0)
        : machine_(machine), shape_(shape), lane_(lane), tree_(Tree::lone_root(machine.rank_count(), root)) {}

    /// `level` is the first level that divides `hosts`, the first of which leads them; `outermost` is that to
    /// which the first of shape.between belongs.
    void build(int level, int outermost, const std::vector<Host>& hosts) {
        if (level >= machine_.topology().level_count()) {
            if (!shape_.leaders_only) join_hosts(hosts);
            return;
        }
        const std::vector<std::vector<Host>> groups = groups_of(level, hosts);
        for (const auto& group : groups) build(level + 1, outermost, group);
        join_groups(level, shape_at(level - outermost), groups);
    }

    /// The clusters first, then the edges between them in that order.
    void build(const SendOrder& order, bool multi_leader) {
        std::vector<std::vector<Host>> clusters;
        const Host root_host = machine_.host_of(tree_.root);
        for (int cluster = 0; cluster < machine_.cluster_count(); ++cluster) {
            const auto hosts = machine_.hosts_in(cluster);
            const bool holds_root = cluster == machine_.cluster_of(root_host);
            clusters.push_back(
                rotated_to({hosts.begin(), hosts.end()}, holds_root ? root_host : hosts.front()));
            join_hosts(clusters.back());
        }
        std::vector<std::vector<int>> depth(clusters.size());
        for (const Send& send : order) {
            const auto from = at(send.from);
            if (multi_leader && depth[from].empty())
                depth[from] = depths_below(tree_, leader(clusters[from].front()));
            link_groups(machine_.topology().level_count() - 1, clusters[from], clusters[at(send.to)].front(),
                        multi_leader, depth[from]);
        }
    }

    /// All ranks of hosts whose leader is in the tree; with leaders_only none.
    Tree finish() {
        if (shape_.leaders_only || machine_.has_single_ranks()) return std::move(tree_);
        for (Host host = 0; host < machine_.host_count(); ++host) {
            const Rank first = leader(host);
            if (!tree_.contains(first)) continue;
            for (const Rank rank : machine_.ranks_on(host)) {
                for (const Rank child : links_on_host(machine_, rank, first, shape_.on_host).children)
                    tree_.link(rank, child);
            }
        }
        return std::move(tree_);
    }

  private:
    Rank leader(Host host) const { return leader_on(machine_, host, lane_, tree_.root); }

    /// Divides `hosts` by group, keeping their order; the first one's group comes first, and in each group
    /// its leader.
    std::vector<std::vector<Host>> groups_of(int level, const std::vector<Host>& hosts) const {
        const auto group_of = [&](Host host) {
            return machine_.topology().group_of(level, machine_.ranks_on(host).front());
        };
        std::map<int, std::vector<Host>> by_group;
        for (const Host host : hosts) by_group[group_of(host)].push_back(host);
        std::vector<int> numbers;
        for (const auto& [number, members] : by_group) numbers.push_back(number);
        const int first = group_of(hosts.front());
        std::rotate(numbers.begin(), std::find(numbers.begin(), numbers.end(), first), numbers.end());
        std::vector<std::vector<Host>> groups;
        for (const int number : numbers) {
            std::vector<Host>& members = by_group[number];
            std::sort(members.begin(), members.end());
            const Host leads = number == first ? hosts.front() : members.front();
            groups.push_back(rotated_to(std::move(members), leads));
        }
        return groups;
    }

    void join_hosts(const std::vector<Host>& hosts) {
        const auto [known, is_new] = links_.try_emplace(hosts.size());
        ShapeLinks& links = known->second;
        if (is_new) links = links_of(shape_.within, static_cast<int>(hosts.size()));
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            for (const int child : links.children[i]) tree_.link(leader(hosts[i]), leader(hosts[at(child)]));
        }
    }

    void join_groups(int level, LevelShape shape, const std::vector<std::vector<Host>>& groups) {
        const ShapeLinks links = links_of(shape.shape, static_cast<int>(groups.size()));
        for (std::size_t i = 0; i < groups.size(); ++i) {
            std::vector<int> depth;
            if (shape.multi_leader) depth = depths_below(tree_, leader(groups[i].front()));
            for (const int child : links.children[i]) {
                link_groups(level, groups[i], groups[at(child)].front(), shape.multi_leader, depth);
            }
        }
    }

    /// An edge from `group` to the leader of another one. `depth`: of its ranks, for multi-leader edges.
    void link_groups(int level, const std::vector<Host>& group, Host to, bool multi_leader,
                     const std::vector<int>& depth) {
        const Rank from = multi_leader ? least_loaded(group, depth) : leader(group.front());
        tree_.link(from, leader(to));
        auto& children = tree_.children[at(from)];
        // The long path first: before the edges inside the group, after those added just before.
        std::rotate(children.begin() + long_edges(level, from), children.end() - 1, children.end());
    }

    /// The number of edges that leave `from`'s group at `level` already, not counting the one just added.
    std::ptrdiff_t long_edges(int level, Rank from) const {
        const auto& children = tree_.children[at(from)];
        return std::count_if(children.begin(), children.end() - 1, [&](Rank child) {
            return machine_.topology().group_of(level, child) != machine_.topology().group_of(level, from);
        });
    }

    LevelShape shape_at(int place) const {
        const auto& between = shape_.between;
        if (between.empty()) return {shape_.within, false};
        return between[at(std::min(place, static_cast<int>(between.size()) - 1))];
    }

    /// The leader in the tree with the fewest children; of equals the one closest to the group's leader.
    Rank least_loaded(const std::vector<Host>& group, const std::vector<int>& depth) const {
        Rank best = leader(group.front());
        const auto load = [&](Rank rank) { return tree_.children[at(rank)].size(); };
        for (const Host host : group) {
            const Rank rank = leader(host);
            const int d = depth[at(rank)];
            if (d < 0) continue;
            if (load(rank) < load(best) || (load(rank) == load(best) && d < depth[at(best)])) {
                best = rank;
            }
        }
        return best;
    }

    const Machine& machine_;
    const TreeShape& shape_;
    int lane_;
    Tree tree_;
    std::map<std::size_t, ShapeLinks> links_;  // inside clusters, by size
};

}  // namespace

Tree hierarchical_tree(const Machine& machine, const TreeShape& shape, Rank root) {
    HierarchyBuilder builder(machine, shape, root);
    builder.build(0, 0, rotated_to(all_below(at(machine.host_count())), machine.host_of(root)));
    return builder.finish();
}

Tree group_tree(const Machine& machine, const TreeShape& shape, Rank root, int lane) {
    const Host host = machine.host_of(root);
    HierarchyBuilder builder(machine, shape, root, lane);
    if (machine.cluster_count() > 1) {
        const int group = machine.group_of(machine.cluster_of(host));
        builder.build(1, 1, rotated_to(hosts_in(machine, machine.groups()[at(group)]), host));
    }
    return builder.finish();
}

Tree ordered_tree(const Machine& machine, const SendOrder& order, bool multi_leader, Shape within,
                  Shape on_host, Rank root) {
    const TreeShape inside{{}, within, on_host};
    HierarchyBuilder builder(machine, inside, root);
    builder.build(order, multi_leader);
    return builder.finish();
}

SendOrder order_of_shape(Shape shape, int clusters, int root) {
    const ShapeLinks links = links_of(shape, clusters);
    SendOrder order;
    for (int i = 0; i < clusters; ++i) {
        for (const int child : links.children[at(i)])
            order.push_back({(root + i) % clusters, (root + child) % clusters});
    }
    return order;
}

std::vector<std::vector<Host>> outermost_hosts(const Machine& machine) {
    std::vector<std::vector<Host>> groups;
    if (machine.cluster_count() == 1) {
        for (Host host = 0; host < machine.host_count(); ++host) groups.push_back({host});
    } else {
        for (const auto& clusters : machine.groups()) groups.push_back(hosts_in(machine, clusters));
    }
    return groups;
}

}  // namespace laple
