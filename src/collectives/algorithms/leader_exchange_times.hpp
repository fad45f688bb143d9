// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "collectives/algorithms/cluster_ring.hpp"
#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/member_times.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/trees/tree.hpp"

namespace laple {

/// How what clusters have comes to the other ones (leader_exchange.cpp).
enum class ExchangeWay { all_at_once, ring };

constexpr std::string_view name_of(ExchangeWay way) {
    return way == ExchangeWay::ring ? "leader-ring" : "leader-exchange";
}

/// The times of an exchange's steps. Of a cluster's tree it follows the longest way down, along first
/// children.
class ExchangeTimes {
  public:
    /// What all of them begin with: blocks come to the leaders of clusters.
    explicit ExchangeTimes(Pricing& pricing);
    ExchangeTimes(ExchangeTimes begun, Shape within, Bytes segment_bytes, const RingOrder& order);

    /// Until all ranks have all blocks. Once.
    double seconds(ExchangeWay way);

  private:
    /// Pieces that follow each other: when the first one is there, and the last one.
    struct Train {
        double first = 0;
        double last = 0;
    };
    struct Cluster {
        MemberRange range;
        ShapeLinks links;
        Bytes bytes;  // of all its blocks, which its leader sends in
        double pieces;
        Bytes piece;
        double gathered = 0;  // its leader has all blocks
        Train has = {};       // the leader, of them
        double free = 0;      // the leader's port, after it has sent them
    };
    static std::size_t at(int member) { return static_cast<std::size_t>(member); }
    MessageTimes piece_of(const Cluster& cluster, std::size_t from, std::size_t to) {
        return times_.clock().times(from, to, cluster.piece, cluster.pieces > 1);
    }

    /// Blocks of its cluster come to a leader; when it has all of them.
    double gather(const MemberRange& range);

    /// A leader sends what its cluster has to all others and to its own children at once; the first pieces
    /// need not wait for the last blocks.
    void send_from(std::size_t number);

    /// A leader sends what its cluster has, and then what comes from the left one, to the right one and to
    /// its own children.
    void go_around();

    /// What a leader passes to the next one, when its port is free from `free` on.
    Train passed(const Cluster& source, std::size_t from, std::size_t to, std::size_t children,
                 const Train& train, double& free);

    /// What each cluster has, at the leader of cluster `number` or at its first child, in the order in which
    /// they are passed on: its own first, then those of its left neighbours.
    std::vector<Train> trains_at(std::size_t number, int member);
    std::size_t sender(std::size_t number, std::size_t i) const;

    /// A member passes on what comes to it to its `children`, the first of which is `child`; but not the
    /// first ones of the trains, which it has sent already.
    void pass_on(std::size_t number, int node, int child, std::size_t children, double free,
                 std::size_t already, std::vector<Train>& trains);

    /// All ranks of the fullest host have what comes to its leader.
    double spread(std::size_t number, int fullest, const std::vector<Train>& trains);

    /// All ranks of the cluster have all.
    double last_in(std::size_t number);

    MemberTimes times_;
    std::vector<Cluster> clusters_;
    /// To leaders, and of what a cluster has to the children of its own; and of each, from its first byte to
    /// its first piece.
    std::vector<NetworkClock::Message> sent_;
    std::vector<double> ahead_;
    std::vector<std::vector<std::size_t>> got_;  // of sent_, by the member that gets it
    std::vector<std::size_t> cluster_of_;        // by member
    /// In a ring, by cluster: what its leader has, in the order in which it comes.
    std::vector<std::vector<Train>> around_;
};

}  // namespace laple
