// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collective/lower_bound.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace laple {
namespace {

constexpr int kMaxSitesInCuts = 12;
constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

using SiteSet = std::uint32_t;

/// The nodes of one communicator in their network, with shortest paths.
class Placement {
  public:
    Placement(const std::vector<int>& cluster_of_node, const std::vector<int>& ranks_on_node, Network network)
        : network_(std::move(network)),
          nodes_in_(network_.clusters.size(), 0),
          ranks_in_(network_.clusters.size(), 0),
          path_(network_.latency) {
        for (std::size_t node = 0; node < cluster_of_node.size(); ++node) {
            const int ranks = ranks_on_node.empty() ? 1 : ranks_on_node[node];
            ++nodes_in_[index(cluster_of_node[node])];
            ranks_in_[index(cluster_of_node[node])] += ranks;
            fewest_ranks_ = node == 0 ? ranks : std::min(fewest_ranks_, ranks);
        }
        const std::size_t count = path_.size();
        for (std::size_t k = 0; k < count; ++k) {
            if (nodes_in_[k] == 0) continue;  // nobody there to pass anything on
            for (std::size_t a = 0; a < count; ++a) {
                for (std::size_t b = 0; b < count; ++b)
                    path_[a][b] = std::min(path_[a][b], path_[a][k] + path_[k][b]);
            }
        }
        for (std::size_t c = 0; c < count; ++c) {
            if (nodes_in_[c] > 0) used_.push_back(static_cast<int>(c));
        }
        for (const int cluster : used_) {
            const int site = network_.site_of(cluster);
            if (std::find(sites_.begin(), sites_.end(), site) == sites_.end()) sites_.push_back(site);
        }
        nodes_ = static_cast<int>(cluster_of_node.size());
    }

    const Network& network() const { return network_; }
    int nodes() const { return nodes_; }
    int nodes_in(int cluster) const { return nodes_in_[index(cluster)]; }
    int ranks() const { return std::accumulate(ranks_in_.begin(), ranks_in_.end(), 0); }
    /// On one node.
    int fewest_ranks() const { return fewest_ranks_; }
    const std::vector<int>& clusters() const { return used_; }
    const std::vector<int>& sites() const { return sites_; }
    /// Between two nodes of these clusters. Two nodes of one cluster may be nearer by way of another.
    Seconds path(int from, int to) const { return path_[index(from)][index(to)]; }

    /// From there to the nearest cluster of a site in `set`.
    Seconds shortest_into(SiteSet set, int from) const {
        Seconds shortest = kNever;
        for (const int to : used_) {
            if (is_in(to, set)) shortest = std::min(shortest, path(from, to));
        }
        return shortest;
    }

    bool is_in(int cluster, SiteSet set) const {
        const auto found = std::find(sites_.begin(), sites_.end(), network_.site_of(cluster));
        return ((set >> (found - sites_.begin())) & 1u) != 0;
    }

    /// What can enter the sites of `set` from the others, in bytes a second: each site takes and gives no
    /// more than its uplink, its NICs and its links with the other side carry.
    double capacity_into(SiteSet set) const {
        double taken = 0;
        double given = 0;
        for (std::size_t s = 0; s < sites_.size(); ++s) {
            const bool is_inside = ((set >> s) & 1u) != 0;
            double links = 0;
            for (std::size_t t = 0; t < sites_.size(); ++t) {
                if ((((set >> t) & 1u) != 0) != is_inside)
                    links += network_.link[index(sites_[s])][index(sites_[t])];
            }
            (is_inside ? taken : given) += std::min(links, limit_of(sites_[s]));
        }
        return std::min(taken, given);
    }

    int ranks_outside(SiteSet set) const {
        int ranks = 0;
        for (const int cluster : used_) ranks += is_in(cluster, set) ? 0 : ranks_in_[index(cluster)];
        return ranks;
    }

    /// What a site can send, and receive.
    double limit_of(int site) const {
        int nodes = 0;
        for (const int cluster : used_) nodes += network_.site_of(cluster) == site ? nodes_in(cluster) : 0;
        return std::min(network_.sites[index(site)].uplink, nodes * network_.nic);
    }

    /// The sets of sites that are tried as one side of a cut.
    std::vector<SiteSet> cuts() const {
        std::vector<SiteSet> sets;
        const std::size_t count = sites_.size();
        const SiteSet all = count >= 32 ? ~SiteSet{0} : (SiteSet{1} << count) - 1;
        if (count > kMaxSitesInCuts) {
            for (std::size_t s = 0; s < std::min<std::size_t>(count, 32); ++s) {
                sets.push_back(SiteSet{1} << s);
                sets.push_back(all & ~(SiteSet{1} << s));
            }
            return sets;
        }
        for (SiteSet set = 1; set < all; ++set) sets.push_back(set);
        return sets;
    }

    std::string name_of(SiteSet set) const {
        std::vector<std::string> inside;
        std::vector<std::string> outside;
        for (std::size_t s = 0; s < sites_.size(); ++s)
            (((set >> s) & 1u) != 0 ? inside : outside).push_back(network_.sites[index(sites_[s])].name);
        if (inside.size() == 1) return "into " + inside.front();
        if (outside.size() == 1) return "out of " + outside.front();
        return fmt::format("into {}", fmt::join(inside, "+"));
    }

  private:
    static std::size_t index(int i) { return static_cast<std::size_t>(i); }

    Network network_;
    std::vector<int> nodes_in_;
    std::vector<int> ranks_in_;
    std::vector<std::vector<Seconds>> path_;
    std::vector<int> used_;
    std::vector<int> sites_;
    int nodes_ = 0;
    int fewest_ranks_ = 1;
};

/// Keeps the largest.
void consider(LowerBound& bound, Seconds time, const std::string& binds) {
    if (time > bound.time) bound = {time, binds};
}

/// From one source to everyone. `path(cluster)` is the shortest way to a node there.
LowerBound bound_from(const Placement& placement, Bytes bytes, int source) {
    LowerBound bound;
    const auto volume = static_cast<double>(bytes);
    const auto path = [&](int cluster) { return placement.path(source, cluster); };
    for (const int cluster : placement.clusters()) {
        if (cluster == source && placement.nodes_in(cluster) == 1) continue;
        consider(bound, path(cluster), "latency");
        consider(bound, path(cluster) + Seconds(volume / placement.network().nic), "node");
    }
    if (bytes == 0) return bound;
    for (const SiteSet set : placement.cuts()) {
        if (placement.is_in(source, set)) continue;
        consider(bound, placement.shortest_into(set, source) + Seconds(volume / placement.capacity_into(set)),
                 placement.name_of(set));
    }
    return bound;
}

/// When the first byte of the nearest host on the other side of a cut can be on this one, and of the
/// farthest.
struct FirstArrivals {
    Seconds nearest = kNever;
    Seconds farthest{0};
};

/// What comes into the sites of `set`: from each cluster outside to the nearest host inside.
FirstArrivals first_arrivals_into(const Placement& placement, SiteSet set) {
    FirstArrivals arrivals;
    for (const int from : placement.clusters()) {
        if (placement.is_in(from, set)) continue;
        const Seconds first = placement.shortest_into(set, from);
        arrivals.nearest = std::min(arrivals.nearest, first);
        arrivals.farthest = std::max(arrivals.farthest, first);
    }
    return arrivals;
}

/// Each host hears of all others, `volume` of each. Returns the shortest path between two of them.
Seconds consider_pairs(LowerBound& bound, const Placement& placement, double volume) {
    Seconds nearest = kNever;
    for (const int a : placement.clusters()) {
        for (const int b : placement.clusters()) {
            if (a == b && placement.nodes_in(a) == 1) continue;
            consider(bound, placement.path(a, b), "latency");
            consider(bound, placement.path(a, b) + Seconds(volume / placement.network().nic), "node");
            nearest = std::min(nearest, placement.path(a, b));
        }
    }
    return nearest;
}

/// Contributions of all are combined for all.
LowerBound bound_of_combining(const Placement& placement, Bytes bytes) {
    LowerBound bound;
    const auto volume = static_cast<double>(bytes);
    const double nic = placement.network().nic;
    const Seconds nearest = consider_pairs(bound, placement, volume);
    if (bytes == 0) return bound;
    const double nodes = placement.nodes();
    consider(bound, nearest + Seconds(2 * volume * (nodes - 1) / (nodes * nic)), "node");
    for (const SiteSet set : placement.cuts()) {
        consider(
            bound,
            first_arrivals_into(placement, set).farthest + Seconds(volume / placement.capacity_into(set)),
            placement.name_of(set));
    }
    const auto sites = static_cast<double>(placement.sites().size());
    if (sites < 2) return bound;
    double all = 0;
    for (const int site : placement.sites()) all += placement.limit_of(site);
    Seconds between = kNever;
    for (const int a : placement.clusters()) {
        for (const int b : placement.clusters()) {
            if (placement.network().site_of(a) != placement.network().site_of(b))
                between = std::min(between, placement.path(a, b));
        }
    }
    consider(bound, between + Seconds(2 * volume * (sites - 1) / all), "all uplinks");
    return bound;
}

/// Of any two ranks the later one, whichever that is, hears from the other one.
LowerBound bound_of_prefixes(const Placement& placement, Bytes bytes) {
    LowerBound bound;
    Seconds nearest = kNever;
    for (const int a : placement.clusters()) {
        for (const int b : placement.clusters()) {
            if (a == b && placement.nodes_in(a) == 1) continue;
            const Seconds path = std::min(placement.path(a, b), placement.path(b, a));
            consider(bound, path, "latency");
            nearest = std::min(nearest, path);
        }
    }
    consider(bound, nearest + Seconds(static_cast<double>(bytes) / placement.network().nic), "node");
    return bound;
}

/// Contributions of all come to all, `bytes` of each; or with time reversed, each gets a block of `bytes` to
/// which all contribute.
LowerBound bound_of_gathering(const Placement& placement, Bytes bytes, bool is_reversed) {
    LowerBound bound;
    const auto volume = static_cast<double>(bytes);
    const Seconds nearest = consider_pairs(bound, placement, volume * placement.fewest_ranks());
    if (bytes == 0) return bound;
    const double elsewhere = placement.ranks() - placement.fewest_ranks();
    consider(bound, nearest + Seconds(volume * elsewhere / placement.network().nic), "node");
    for (const SiteSet set : placement.cuts()) {
        const int outside = placement.ranks_outside(set);
        const int blocks = is_reversed ? placement.ranks() - outside : outside;
        consider(bound,
                 first_arrivals_into(placement, set).nearest +
                     Seconds(volume * blocks / placement.capacity_into(set)),
                 placement.name_of(set));
    }
    return bound;
}

/// A block of `bytes` comes from each rank to the root, or in a reversed network from it to each. The ranks
/// of the root's node need no network.
LowerBound bound_of_blocks_of_root(const Placement& placement, Bytes bytes, int root, int ranks_at_root) {
    LowerBound bound;
    const auto volume = static_cast<double>(bytes);
    Seconds nearest = kNever;
    for (const int from : placement.clusters()) {
        if (from == root && placement.nodes_in(from) == 1) continue;
        consider(bound, placement.path(from, root), "latency");
        consider(
            bound,
            placement.path(from, root) + Seconds(volume * placement.fewest_ranks() / placement.network().nic),
            "node");
        nearest = std::min(nearest, placement.path(from, root));
    }
    if (bytes == 0) return bound;
    const double elsewhere = placement.ranks() - ranks_at_root;
    consider(bound, nearest + Seconds(volume * elsewhere / placement.network().nic), "node");
    for (const SiteSet set : placement.cuts()) {
        if (!placement.is_in(root, set)) continue;
        consider(bound,
                 first_arrivals_into(placement, set).nearest +
                     Seconds(volume * placement.ranks_outside(set) / placement.capacity_into(set)),
                 placement.name_of(set));
    }
    return bound;
}

/// A block of `bytes` comes from each rank to each other.
LowerBound bound_of_all_to_all(const Placement& placement, Bytes bytes) {
    LowerBound bound;
    const auto volume = static_cast<double>(bytes);
    const double fewest = placement.fewest_ranks();
    const Seconds nearest = consider_pairs(bound, placement, volume * fewest * fewest);
    if (bytes == 0) return bound;
    const double elsewhere = placement.ranks() - fewest;
    consider(bound, nearest + Seconds(volume * fewest * elsewhere / placement.network().nic), "node");
    for (const SiteSet set : placement.cuts()) {
        const double outside = placement.ranks_outside(set);
        consider(bound,
                 first_arrivals_into(placement, set).nearest +
                     Seconds(volume * outside * (placement.ranks() - outside) / placement.capacity_into(set)),
                 placement.name_of(set));
    }
    return bound;
}

Network reversed(const Network& network) {
    Network back = network;
    for (std::size_t a = 0; a < network.clusters.size(); ++a) {
        for (std::size_t b = 0; b < network.clusters.size(); ++b) back.latency[a][b] = network.latency[b][a];
    }
    return back;  // rates are the same each way
}

}  // namespace

LowerBound lower_bound(Collective collective, Bytes bytes, int root, const std::vector<int>& cluster_of_node,
                       const Network& network, const std::vector<int>& ranks_on_node) {
    if (cluster_of_node.size() < 2) return {};
    const CollectiveRow& row = row_of(collective);
    // The way from a root is planned, or for blocks the way to it.
    const bool is_reversed = row.is_rooted && row.runs_to_root != row.is_personalized;
    const Placement placement(cluster_of_node, ranks_on_node, is_reversed ? reversed(network) : network);
    const auto at_root = static_cast<std::size_t>(root);
    if (row.is_personalized && row.is_rooted)
        return bound_of_blocks_of_root(placement, bytes, cluster_of_node[at_root],
                                       ranks_on_node.empty() ? 1 : ranks_on_node[at_root]);
    if (row.is_personalized) return bound_of_all_to_all(placement, bytes);
    if (row.is_rooted) return bound_from(placement, bytes, cluster_of_node[static_cast<std::size_t>(root)]);
    if (is_prefix(collective)) return bound_of_prefixes(placement, bytes);
    if (is_gathered(collective) || is_combined_in_parts(collective))
        return bound_of_gathering(placement, bytes, is_combined_in_parts(collective));
    return bound_of_combining(placement, bytes);
}

}  // namespace laple
