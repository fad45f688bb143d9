// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/hierarchy.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace laple {
namespace {

/// `members` (ascending) turned so that `root` comes first.
std::vector<Rank> rotated_to(std::span<const Rank> members, Rank root) {
    std::vector<Rank> order(members.begin(), members.end());
    std::rotate(order.begin(), std::find(order.begin(), order.end(), root), order.end());
    return order;
}

/// Builds the tree of a set of ranks level by level, from the inside out: first the trees of the groups, then
/// the edges that join them, so that spread edges can see how much each member has to send already.
class HierarchyBuilder {
  public:
    HierarchyBuilder(const Topology& topology, const Algorithm& algorithm, Rank root)
        : topology_(topology), algorithm_(algorithm), tree_(Tree::lone_root(topology.size(), root)) {}

    /// `level` is the first level that divides `members`; `order[0]` is their root.
    void build(int level, const std::vector<Rank>& order) {
        if (level == topology_.level_count()) {
            if (!algorithm_.native_within) join_members(order);
            return;
        }
        const std::vector<std::vector<Rank>> groups = groups_of(level, order);
        for (const auto& group : groups) build(level + 1, group);
        join_groups(level, groups);
    }

    /// The innermost clusters first, then the edges between them in that order.
    void build(const SendOrder& order, bool spread) {
        const int level = topology_.level_count() - 1;
        std::vector<std::vector<Rank>> groups;
        for (int group = 0; group < topology_.group_count(level); ++group) {
            const auto members = topology_.members(level, group);
            const bool holds_root = group == topology_.group_of(level, tree_.root);
            groups.push_back(rotated_to(members, holds_root ? tree_.root : members.front()));
            join_members(groups.back());
        }
        join_clusters(groups, order, spread);
    }

    Tree take() { return std::move(tree_); }

  private:
    /// Divides `order` by group, keeping it; the root's group comes first and each group's coordinator too.
    std::vector<std::vector<Rank>> groups_of(int level, const std::vector<Rank>& order) const {
        std::vector<int> ids;
        for (const Rank rank : order) ids.push_back(topology_.group_of(level, rank));
        std::vector<int> distinct(ids);
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        std::rotate(distinct.begin(), std::find(distinct.begin(), distinct.end(), ids.front()),
                    distinct.end());
        std::vector<std::vector<Rank>> groups;
        for (const int id : distinct) {
            const auto members = topology_.members(level, id);
            groups.push_back(rotated_to(members, id == ids.front() ? order.front() : members.front()));
        }
        return groups;
    }

    /// Edges between clusters, whose trees stand.
    void join_clusters(const std::vector<std::vector<Rank>>& groups, const SendOrder& order, bool spread) {
        const int level = topology_.level_count() - 1;
        std::vector<std::vector<int>> depth(groups.size());
        for (const Send& send : order) {
            const auto from = static_cast<std::size_t>(send.from);
            if (spread && depth[from].empty()) depth[from] = depths_below(tree_, groups[from].front());
            link_groups(level, groups[from], groups[static_cast<std::size_t>(send.to)].front(), spread,
                        depth[from]);
        }
    }

    void join_members(const std::vector<Rank>& order) {
        const auto [known, is_new] = links_.try_emplace(order.size());
        ShapeLinks& links = known->second;
        if (is_new) links = links_of(algorithm_.within, static_cast<int>(order.size()));
        for (std::size_t i = 0; i < order.size(); ++i) {
            for (const int child : links.children[i])
                tree_.link(order[i], order[static_cast<std::size_t>(child)]);
        }
    }

    void join_groups(int level, const std::vector<std::vector<Rank>>& groups) {
        const LevelShape shape = shape_at(level);
        const ShapeLinks links = links_of(shape.shape, static_cast<int>(groups.size()));
        for (std::size_t i = 0; i < groups.size(); ++i) {
            std::vector<int> depth;
            if (shape.spread) depth = depths_below(tree_, groups[i].front());
            for (const int child : links.children[i]) {
                link_groups(level, groups[i], groups[static_cast<std::size_t>(child)].front(), shape.spread,
                            depth);
            }
        }
    }

    /// An edge from `group` to the coordinator of another one. `depth`: of its members, for spread edges.
    void link_groups(int level, const std::vector<Rank>& group, Rank to, bool spread,
                     const std::vector<int>& depth) {
        const Rank from = spread ? least_loaded(group, depth) : group.front();
        tree_.link(from, to);
        auto& children = tree_.children[static_cast<std::size_t>(from)];
        // The long way first: before the edges inside the group, after those added just before.
        std::rotate(children.begin() + long_edges(level, from), children.end() - 1, children.end());
    }

    /// The number of edges that leave `from`'s group at `level` already, not counting the one just added.
    std::ptrdiff_t long_edges(int level, Rank from) const {
        const auto& children = tree_.children[static_cast<std::size_t>(from)];
        return std::count_if(children.begin(), children.end() - 1, [&](Rank child) {
            return topology_.group_of(level, child) != topology_.group_of(level, from);
        });
    }

    LevelShape shape_at(int level) const {
        const auto& between = algorithm_.between;
        const int first = algorithm_.meeting == Meeting::tree ? 0 : 1;  // the meeting stands for level 0
        if (between.empty()) return {algorithm_.within, false};
        return between[static_cast<std::size_t>(
            std::min(level - first, static_cast<int>(between.size()) - 1))];
    }

    /// The member that is in the tree and has the fewest children; of equals the one nearest to the
    /// coordinator.
    Rank least_loaded(const std::vector<Rank>& group, const std::vector<int>& depth) const {
        Rank best = group.front();
        const auto load = [&](Rank rank) { return tree_.children[static_cast<std::size_t>(rank)].size(); };
        for (const Rank rank : group) {
            const int d = depth[static_cast<std::size_t>(rank)];
            if (d < 0) continue;
            if (load(rank) < load(best) ||
                (load(rank) == load(best) && d < depth[static_cast<std::size_t>(best)])) {
                best = rank;
            }
        }
        return best;
    }

    const Topology& topology_;
    const Algorithm& algorithm_;
    Tree tree_;
    std::map<std::size_t, ShapeLinks> links_;  // inside clusters, by size
};

}  // namespace

Tree hierarchical_tree(const Topology& topology, const Algorithm& algorithm, Rank root) {
    std::vector<Rank> all(static_cast<std::size_t>(topology.size()));
    std::iota(all.begin(), all.end(), 0);
    HierarchyBuilder builder(topology, algorithm, root);
    builder.build(0, rotated_to(all, root));
    return builder.take();
}

Tree ordered_tree(const Topology& topology, const SendOrder& order, bool spread, Shape within, Rank root) {
    Algorithm inside;
    inside.within = within;
    HierarchyBuilder builder(topology, inside, root);
    builder.build(order, spread);
    return builder.take();
}

SendOrder order_of_shape(Shape shape, int clusters, int root) {
    const ShapeLinks links = links_of(shape, clusters);
    SendOrder order;
    for (int i = 0; i < clusters; ++i) {
        for (const int child : links.children[static_cast<std::size_t>(i)])
            order.push_back({(root + i) % clusters, (root + child) % clusters});
    }
    return order;
}

Tree cluster_tree(const Topology& topology, const Algorithm& algorithm, Rank root) {
    if (topology.is_flat()) return Tree::lone_root(topology.size(), root);
    HierarchyBuilder builder(topology, algorithm, root);
    builder.build(1, rotated_to(topology.members(0, topology.group_of(0, root)), root));
    return builder.take();
}

std::vector<std::vector<Rank>> outermost_groups(const Topology& topology) {
    std::vector<std::vector<Rank>> groups;
    if (topology.is_flat()) {
        for (Rank rank = 0; rank < topology.size(); ++rank) groups.push_back({rank});
        return groups;
    }
    for (int group = 0; group < topology.group_count(0); ++group) {
        const auto members = topology.members(0, group);
        groups.emplace_back(members.begin(), members.end());
    }
    return groups;
}

std::vector<Rank> innermost_group(const Topology& topology, Rank rank) {
    if (topology.is_flat()) return {rank};
    const int level = topology.level_count() - 1;
    const auto members = topology.members(level, topology.group_of(level, rank));
    return {members.begin(), members.end()};
}

bool has_consecutive_groups(const Topology& topology) {
    for (int level = 0; level < topology.level_count(); ++level) {
        for (int group = 0; group < topology.group_count(level); ++group) {
            const auto members = topology.members(level, group);
            if (members.back() - members.front() + 1 != static_cast<Rank>(members.size())) return false;
        }
    }
    return true;
}

std::vector<std::vector<int>> groups_of_clusters(const Topology& topology) {
    std::vector<std::vector<int>> groups(static_cast<std::size_t>(topology.group_count(0)));
    const int innermost = topology.level_count() - 1;
    for (int cluster = 0; cluster < topology.group_count(innermost); ++cluster) {
        const int group = topology.group_of(0, topology.members(innermost, cluster).front());
        groups[static_cast<std::size_t>(group)].push_back(cluster);
    }
    return groups;
}

}  // namespace laple
