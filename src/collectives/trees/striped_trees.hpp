// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "collectives/trees/send_order.hpp"
#include "collectives/trees/tree.hpp"
#include "topology/machine.hpp"

namespace laple {

/// The trees of lanes. Segments take turns between them; each has other hosts where messages go from cluster
/// to cluster, and other inner hosts: all flows between clusters are used, and all NICs alike. The root sends
/// each segment once, and to its own cluster if its host is not alone there; hosts of a cluster take each
/// other's places from lane to lane, and ranks of a host each other's as its leader.
///
///     lane 0 of 3, chains, root 0 of {0 1 2 3}     0 ── 1 ── 2 ── 3 ══ 4 ── 5 ── 6      {4 5 6}
///     lane 1                                       0 ── 2 ── 3 ── 1 ══ 5 ── 6 ── 4
///     lane 2                                       0 ── 3 ── 1 ── 2 ══ 6 ── 4 ── 5
///
/// Messages to other clusters leave from the place with the fewest messages to send, of equals the one
/// nearest to the cluster's leader, and before those to the own cluster.
///
/// (Rotated striped chains, a composition of our own: docs/algorithms.md; with binary trees inside what two
/// trees do there: Sanders, Speck, Träff, 2009)
class StripedTrees {
  public:
    /// The clusters get the message in `order`, which begins at `root`'s; `within` is the shape of the hosts
    /// inside them. `machine` must outlive this. O(hosts, and for each message those of the cluster that it
    /// leaves).
    StripedTrees(const Machine& machine, const SendOrder& order, Shape within, Rank root);

    // Clusters point into the map of insides.
    StripedTrees(const StripedTrees&) = delete;
    StripedTrees& operator=(const StripedTrees&) = delete;

    /// The neighbours of `rank` in the tree of lane `lane` ≥ 0. O(hosts of its cluster + messages from
    /// there + ranks of its host).
    RankLinks links(int lane, Rank rank) const;
    /// That tree.
    Tree tree(int lane) const;

  private:
    /// A place in a cluster, which hosts take in turn: 0 is that of the cluster's leader.
    using Place = int;

    /// The links inside a cluster, by place.
    struct Inside {
        ShapeLinks links;
        std::vector<int> depth;
    };

    struct Cluster {
        std::vector<Host> hosts;         // the root's first
        const Inside* inside = nullptr;  // of so many
        int fixed = 0;                   // of them: the root's, unless alone
        int parent = -1;                 // the cluster that this one receives from
        Place parent_place = 0;          // the place there
        int depth = 0;                   // clusters before it
        int round = 1;                   // lanes after which it shifts once more against the one before
        std::vector<int> to;             // clusters that receive from this one, in order
        std::vector<Place> from;         // of each the place here
    };

    void add_clusters();
    void join(const SendOrder& order);
    /// Where a cluster's next message leaves, if those places have that many messages each.
    static Place least_loaded(const Cluster& cluster, const std::vector<int>& load);
    const Inside& inside(int size, int fixed);

    /// The hosts after the fixed ones have moved on so far in a lane.
    static int shift(const Cluster& cluster, int lane);
    Rank leader_at(const Cluster& cluster, Place place, int lane) const;
    static Place place_of(const Cluster& cluster, Host host, int lane);
    void add_links_between_hosts(int lane, Rank rank, RankLinks& links) const;
    Cluster& cluster(int number) { return clusters_[static_cast<std::size_t>(number)]; }
    const Cluster& cluster(int number) const { return clusters_[static_cast<std::size_t>(number)]; }

    const Machine& machine_;
    Shape within_;
    Rank root_;
    std::vector<Cluster> clusters_;
    std::map<std::pair<int, int>, Inside> insides_;  // by size and number of fixed hosts
};

/// The trees of lanes of which each has one of several orders between clusters, in turn. Hosts change places
/// from each lane of an order to its next one, and the lanes of the next order go on where those end:
///
///     6 lanes, 3 orders      lane    0  1  2  3  4  5
///                            order   0  1  2  0  1  2
///                            places  0  2  4  1  3  5      (the lane of StripedTrees that it has)
class LaneTrees {
  public:
    /// As StripedTrees, with `orders`, one at least, for `lanes` lanes.
    LaneTrees(const Machine& machine, const std::vector<SendOrder>& orders, int lanes, Shape within,
              Rank root);

    RankLinks links(int lane, Rank rank) const { return of(lane).links(places(lane), rank); }
    Tree tree(int lane) const { return of(lane).tree(places(lane)); }

  private:
    int count() const { return static_cast<int>(trees_.size()); }
    const StripedTrees& of(int lane) const { return trees_[static_cast<std::size_t>(lane % count())]; }
    int places(int lane) const { return lane % count() * lanes_of_each_ + lane / count(); }

    std::deque<StripedTrees> trees_;  // by order; these cannot move
    int lanes_of_each_;               // at most
};

}  // namespace laple
