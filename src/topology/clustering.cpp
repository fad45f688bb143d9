// SPDX-License-Identifier: BSD-3-Clause
#include "topology/clustering.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <limits>

#include "base/index.hpp"
#include "base/median.hpp"

namespace laple {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The widest that is called a LAN without asking what the rest of the machine looks like: 100 km of fibre at
/// 5 us/km. Only ever decides where ratios of latencies do not.
constexpr double kLanReach = 500e-6;
/// From this latency on, and from so many times that of most others, a lone node is no late one of their LAN.
constexpr double kLoneSite = 250e-6;
constexpr double kLoneSiteRatio = 10;

Clusters in_order(Clusters clusters) {
    for (auto& members : clusters) std::sort(members.begin(), members.end());
    std::sort(clusters.begin(), clusters.end());
    return clusters;
}

/// Disjoint sets of nodes, each with the latency of the shortest edge that ECO has used in it.
class Subnets {
  public:
    explicit Subnets(int nodes) : parent_(all_below(at(nodes))), shortest_(at(nodes), kInfinity) {}

    int find(int node) {
        while (parent_[at(node)] != node) {
            parent_[at(node)] = parent_[at(parent_[at(node)])];
            node = parent_[at(node)];
        }
        return node;
    }

    double shortest(int root) const { return shortest_[at(root)]; }

    void join(int a, int b, double latency) {
        parent_[at(b)] = a;
        shortest_[at(a)] = std::min({shortest_[at(a)], shortest_[at(b)], latency});
    }

  private:
    std::vector<int> parent_;
    std::vector<double> shortest_;
};

struct Edge {
    double latency = 0;
    int a = 0;
    int b = 0;
    auto operator<=>(const Edge&) const = default;
};

std::vector<Edge> edges_by_latency(const LatencyMatrix& matrix) {
    std::vector<Edge> edges;
    for (int a = 0; a < matrix.nodes(); ++a) {
        for (int b = a + 1; b < matrix.nodes(); ++b) edges.push_back({matrix.at(a, b).count(), a, b});
    }
    std::sort(edges.begin(), edges.end());
    return edges;
}

/// A node of the tree of groups: a subnet of ECO's (no children), or two groups joined.
struct Group {
    std::vector<int> members;
    int left = -1;
    int right = -1;
    double width = 0;             // latency inside: between the two groups joined, or the subnet's median
    double distance = kInfinity;  // latency to the nearest group outside, i.e. to the one it is joined with
    bool distinct = false;        // certainly a cluster: far from all others, compared with its width
    int distinct_count = 0;       // how many distinct groups there are inside, or 1 if this is one
    int nodes_in_distinct = 0;    // how many members are in distinct groups, this one or inside it
    double distinct_width = 0;    // of the widest of these

    int size() const { return static_cast<int>(members.size()); }
};

/// Joins groups, nearest first, until one is left: the last one. Children stand before their parents.
class GroupTree {
  public:
    GroupTree(const LatencyMatrix& matrix, const Clusters& subnets) : matrix_(matrix) {
        for (const auto& members : subnets) {
            add({.members = members, .width = median_latency(matrix, members).count()});
        }
        while (roots_.size() > 1) join_nearest();
    }

    std::vector<Group> take() { return std::move(groups_); }

  private:
    void add(Group group) {
        const int id = static_cast<int>(groups_.size());
        groups_.push_back(std::move(group));
        between_.emplace_back(at(id), kInfinity);
        for (const int other : roots_) {
            between_.back()[at(other)] =
                median_latency(matrix_, groups_[at(other)].members, groups_.back().members).count();
        }
        roots_.push_back(id);
    }

    void join_nearest() {
        double nearest = kInfinity;
        int left = roots_[0];
        int right = roots_[1];
        for (std::size_t i = 1; i < roots_.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const double latency = between_[at(roots_[i])][at(roots_[j])];
                if (latency >= nearest) continue;
                nearest = latency;
                left = roots_[j];
                right = roots_[i];
            }
        }
        std::erase(roots_, left);
        std::erase(roots_, right);
        Group joined;
        joined.left = left;
        joined.right = right;
        joined.members = groups_[at(left)].members;
        const auto& more = groups_[at(right)].members;
        joined.members.insert(joined.members.end(), more.begin(), more.end());
        // Medians need not grow from join to join; a group is never narrower than what it holds.
        joined.width = std::max({nearest, groups_[at(left)].width, groups_[at(right)].width});
        groups_[at(left)].distance = nearest;
        groups_[at(right)].distance = nearest;
        add(std::move(joined));
    }

    const LatencyMatrix& matrix_;
    std::vector<Group> groups_;
    std::vector<int> roots_;
    std::vector<std::vector<double>> between_;  // [later][earlier]
};

/// Decides which groups of the tree are clusters.
///
/// 1. A group is distinct when its distance is at least level_ratio times its width. Of distinct groups
///    inside each other the inner ones are the sites, and the outer one is a region of sites ...
/// 2. ... unless it is no wider than a LAN can be, and besides one distinct group holds lone nodes only, or
///    lone nodes for the most part. Then they are all one LAN: with twin machines on one host that are nearer
///    to each other than to the rest, say, or with a node that answers late; but not where most nodes are in
///    that one group, and the others so far from it that they must be sites of one host each.
/// 3. What is in no distinct group are lone nodes. Some may be closer to each other than to anything else, or
///    in the same distance as everything else, and ECO or the tree has joined them. They are a cluster if
///    their latency is nearer, in ratio, to the machine's usual LAN than to their distance from the others;
///    so is a LAN whose width was overestimated by noise. The same test undoes distinct groups of lone nodes.
/// 4. Two nodes alone prove less: of any few lone sites, two are nearest to each other. They must be as near
///    as the usual LAN, up to level_ratio.
class Selection {
  public:
    Selection(std::vector<Group> groups, double level_ratio)
        : groups_(std::move(groups)), level_ratio_(level_ratio) {
        for (Group& group : groups_) mark(group);
        usual_width_ = usual_width();
    }

    Clusters clusters() {
        select(groups_.back());
        return std::move(clusters_);
    }

  private:
    bool is_apart(const Group& group) const {
        return group.distance > 0 && group.distance >= level_ratio_ * group.width;
    }

    void mark(Group& group) {
        if (group.left >= 0) {
            const Group& left = groups_[at(group.left)];
            const Group& right = groups_[at(group.right)];
            group.distinct_count = left.distinct_count + right.distinct_count;
            group.nodes_in_distinct = left.nodes_in_distinct + right.nodes_in_distinct;
            group.distinct_width = std::max(left.distinct_width, right.distinct_width);
        }
        const bool lone_nodes_prevail =
            group.distinct_count == 1 || 2 * group.nodes_in_distinct < group.size();
        const bool is_one_lan =
            group.width <= kLanReach && lone_nodes_prevail && !is_site_with_lone_ones(group);
        group.distinct = group.size() > 1 && is_apart(group) && (group.distinct_count == 0 || is_one_lan);
        if (!group.distinct) return;
        group.distinct_count = 1;
        group.nodes_in_distinct = group.size();
        group.distinct_width = group.width;
    }

    static bool is_site_with_lone_ones(const Group& group) {
        return group.distinct_count == 1 && 2 * group.nodes_in_distinct > group.size() &&
               group.width >= std::max(kLoneSite, kLoneSiteRatio * group.distinct_width);
    }

    /// The width of the distinct group that the median node is in.
    double usual_width() const {
        std::vector<double> width_of_node;
        std::vector<int> open = {static_cast<int>(groups_.size()) - 1};
        while (!open.empty()) {
            const Group& group = groups_[at(open.back())];
            open.pop_back();
            if (group.distinct) {
                width_of_node.insert(width_of_node.end(), group.members.size(), group.width);
            } else if (group.left >= 0) {
                open.push_back(group.left);
                open.push_back(group.right);
            }
        }
        return median(width_of_node);
    }

    bool is_cluster(const Group& group) const {
        if (group.size() == 1) return true;
        if (!group.distinct && group.nodes_in_distinct > 0) return false;
        if (is_apart(group) && group.width <= kLanReach) return true;
        if (group.size() == 2 && group.width >= level_ratio_ * usual_width_) return false;
        return group.width * group.width <= usual_width_ * group.distance;
    }

    void select(const Group& group) {
        if (is_cluster(group)) {
            clusters_.push_back(group.members);
        } else if (group.left >= 0) {
            select(groups_[at(group.left)]);
            select(groups_[at(group.right)]);
        } else {
            for (const int node : group.members) clusters_.push_back({node});
        }
    }

    std::vector<Group> groups_;
    double level_ratio_;
    double usual_width_ = 0;
    Clusters clusters_;
};

/// The least latency of a path from `a` to `b` over one other node.
double best_way_round(const LatencyMatrix& matrix, int a, int b) {
    double best = kInfinity;
    for (int via = 0; via < matrix.nodes(); ++via) {
        if (via == a || via == b) continue;
        best = std::min(best, matrix.at(a, via).count() + matrix.at(via, b).count());
    }
    return best;
}

}  // namespace

Seconds median_latency(const LatencyMatrix& matrix, const std::vector<int>& group) {
    std::vector<double> values;
    for (std::size_t i = 0; i < group.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) values.push_back(matrix.at(group[i], group[j]).count());
    }
    return Seconds(median(values));
}

Seconds median_latency(const LatencyMatrix& matrix, const std::vector<int>& a, const std::vector<int>& b) {
    std::vector<double> values;
    values.reserve(a.size() * b.size());
    for (const int i : a) {
        for (const int j : b) values.push_back(matrix.at(i, j).count());
    }
    return Seconds(median(values));
}

Clusters eco_clusters(const LatencyMatrix& matrix, double tolerance) {
    const int nodes = matrix.nodes();
    const double factor = 1 + tolerance;
    std::vector<double> shortest(at(nodes), kInfinity);
    const std::vector<Edge> edges = edges_by_latency(matrix);
    for (const Edge& edge : edges) {
        shortest[at(edge.a)] = std::min(shortest[at(edge.a)], edge.latency);
        shortest[at(edge.b)] = std::min(shortest[at(edge.b)], edge.latency);
    }
    Subnets subnets(nodes);
    for (const Edge& edge : edges) {
        const int a = subnets.find(edge.a);
        const int b = subnets.find(edge.b);
        const double limit = factor * std::min({shortest[at(edge.a)], shortest[at(edge.b)],
                                                subnets.shortest(a), subnets.shortest(b)});
        if (a != b && edge.latency <= limit) subnets.join(a, b, edge.latency);
    }
    Clusters by_root(at(nodes));
    for (int node = 0; node < nodes; ++node) by_root[at(subnets.find(node))].push_back(node);
    std::erase_if(by_root, [](const auto& members) { return members.empty(); });
    return in_order(std::move(by_root));
}

Clusters cluster_nodes(const LatencyMatrix& matrix, const ClusteringOptions& options) {
    if (matrix.nodes() == 0) return {};
    GroupTree tree(matrix, eco_clusters(matrix, options.tolerance));
    return in_order(Selection(tree.take(), options.level_ratio).clusters());
}

Clusters split_where_far(const LatencyMatrix& matrix, const Clusters& clusters) {
    Clusters result;
    for (const auto& cluster : clusters) {
        if (median_latency(matrix, cluster) < kFarApart) {
            result.push_back(cluster);
        } else {
            for (const int node : cluster) result.push_back({node});
        }
    }
    return in_order(std::move(result));
}

LatencyMatrix quotient(const LatencyMatrix& matrix, const Clusters& clusters) {
    const int count = static_cast<int>(clusters.size());
    LatencyMatrix result(count);
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b < a; ++b)
            result.set(a, b, median_latency(matrix, clusters[at(a)], clusters[at(b)]));
    }
    return result;
}

std::vector<Clusters> cluster_levels(LatencyMatrix between, const Clusters& clusters,
                                     const ClusteringOptions& options) {
    const ClusteringOptions outer{options.tolerance, options.outer_level_ratio, options.outer_level_ratio};
    std::vector<Clusters> levels{clusters};
    while (true) {
        const Clusters& inner = levels.front();
        const Clusters groups = cluster_nodes(between, outer);
        if (groups.size() <= 1 || groups.size() == inner.size()) return levels;
        between = quotient(between, groups);
        Clusters joined;
        for (const auto& group : groups) {
            auto& members = joined.emplace_back();
            for (const int cluster : group)
                members.insert(members.end(), inner[at(cluster)].begin(), inner[at(cluster)].end());
        }
        levels.insert(levels.begin(), std::move(joined));
        for (auto& members : levels.front()) std::sort(members.begin(), members.end());
    }
}

std::vector<NodePair> doubtful_pairs(const LatencyMatrix& matrix, const Clusters& clusters) {
    constexpr double kCloseCall = 10;
    const std::vector<int> cluster_of = group_of_each(clusters, at(matrix.nodes()));
    std::vector<double> inside;
    for (const auto& cluster : clusters) inside.push_back(median_latency(matrix, cluster).count());
    // Up to which latency a pair of these two clusters is beyond doubt, as far as clusters go.
    std::vector<std::vector<double>> limit(clusters.size(), std::vector<double>(clusters.size(), kInfinity));
    for (std::size_t a = 0; a < clusters.size(); ++a) {
        limit[a][a] = 2 * inside[a];
        for (std::size_t b = 0; b < a; ++b) {
            const double between = median_latency(matrix, clusters[a], clusters[b]).count();
            if (between < std::max(kLanReach, kCloseCall * std::max(inside[a], inside[b])))
                limit[a][b] = limit[b][a] = 0;
        }
    }
    std::vector<NodePair> pairs;
    for (int a = 0; a < matrix.nodes(); ++a) {
        for (int b = a + 1; b < matrix.nodes(); ++b) {
            const double most = std::min(limit[at(cluster_of[at(a)])][at(cluster_of[at(b)])],
                                         1.5 * best_way_round(matrix, a, b));
            if (matrix.at(a, b).count() > most) pairs.push_back({a, b});
        }
    }
    return pairs;
}

}  // namespace laple
