// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "collectives/algorithms/block_routes.hpp"
#include "collectives/algorithms/send_turns.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Reduction trees, one for the block of each rank, which is the root of its own. Every rank contributes to
/// every block, and combines what comes to it before it passes that on.
///
///     none          all ranks ═══► dest
///
///     by_host       ranks ─► agent ═══► agent ─► dest
///                   of each other host    of dest's
///
///     by_cluster    ranks ─► agent ──┐
///                   ranks ─► agent ──┴─► carrier ═══► agent ─► dest
///                   of the hosts of each other cluster  of dest's host
///
/// Hosts of dest's own cluster send to its host themselves. Each host of a cluster carries the blocks of its
/// share of every other cluster's hosts. Of blocks that go together agents are other ranks for other hosts;
/// of long ones, other ranks for other ranks, and dest itself is the agent of its host: all share the work. A
/// tree carries each block once out of a host, and once out of a cluster.
///
/// By clusters, long blocks go around the hosts of a cluster to the carrier, or to dest's host, each to the
/// next one: nobody gets two at once.
///
///     by_cluster, long    agent ─► agent ─► agent = carrier ═══► dest
///                         of the hosts of each other cluster
///
/// And in a ring of clusters they go on to the next cluster's carrier, until the next cluster is dest's: what
/// comes in by an uplink is then one partial result of each block, and not one from each cluster.
///
///     in a ring           carrier ═══► carrier ═══► carrier ═══► dest
///                         of each other cluster, that to the right of dest's first
///
/// (Kielmann et al., "MagPIe", PPoPP'99, for one partial result from each cluster; Bienz, Gropp and Olson,
/// "Node aware sparse matrix-vector multiplication", JPDC 2019, for agents; Patarasuk and Yuan, "Bandwidth
/// optimal all-reduce algorithms for clusters of workstations", 2009, for rings)
class BlockTrees {
  public:
    /// To the agent; to the carrier; where blocks go around, those of the own cluster to dest's host; else to
    /// dest's host, or the next cluster's carrier; to dest. What is sent in one hop waits for what earlier
    /// ones bring at most, and where blocks go around, for what earlier rounds of that hop do.
    enum Hop : int { kToAgent, kToCarrier, kInside, kToHost, kToDest };

    /// `machine` must outlive this. `are_long`: blocks do not go together. `ring`: all clusters in the order
    /// in which long blocks go around them, where they are combined by clusters; empty: they do not.
    BlockTrees(const Machine& machine, Aggregation aggregation, bool are_long, std::vector<int> ring = {});

    /// What goes from one rank to another in one hop: partial results of the blocks of `dests`, in ascending
    /// order.
    struct Message {
        int hop;
        int round;  ///< 0 where blocks do not go around
        Rank from;
        Rank to;
        std::vector<Rank> dests;
    };
    /// Those that `rank` sends or gets, hop by hop and round by round, and in each of these by turns: one
    /// between two ranks in each.
    std::vector<Message> messages_of(Rank rank) const;

    /// A neighbour of a rank in the tree of a block.
    struct Neighbour {
        int hop;
        int round;
        Rank rank;
    };
    /// Where `rank`, which is not `dest`, sends its part of the block of `dest`.
    Neighbour parent(Rank rank, Rank dest) const;
    std::vector<Neighbour> children(Rank rank, Rank dest) const;

    /// By clusters: the rank that sends what another cluster has for `dest` to the host of that, or in a ring
    /// to receiver().
    Rank sender(int cluster, Rank dest) const;
    /// In a ring: who gets that, the next cluster's carrier or `dest`.
    Rank receiver(int cluster, Rank dest) const;
    bool is_ring() const { return !ring_.empty(); }
    /// In a ring: the clusters whose blocks this one passes on, in the order in which it does: from the one
    /// to its left on, all around.
    std::vector<int> left_of(int cluster) const;

    /// Whether blocks go around the hosts of clusters.
    bool go_around() const { return are_long_ && aggregation_ == Aggregation::by_cluster; }

  private:
    bool is_on_host_of(Rank rank, Rank dest) const {
        return machine_.host_of(rank) == machine_.host_of(dest);
    }
    Host carrier(int cluster, Host dest) const;
    /// Where the block of a rank of host `dest` ends in a cluster.
    Host end_in(int cluster, Host dest) const;
    /// The host beside another one in its cluster, all around.
    Host beside(Host host, int distance) const;
    /// In which round a host passes on what ends at `end`. The one to the right of that begins.
    int round_of(Host host, Host end) const;
    /// In a ring, the cluster so far to the right of that one.
    int ring_neighbour(int cluster, int distance) const;
    /// In which round a cluster passes on what is for another one. The one to the right of that begins.
    int round_between(int cluster, int dest) const;
    /// The rank of `host` that combines, and passes on, its part of the block of `dest`, which is elsewhere.
    Rank agent_out(Host host, Rank dest) const;
    /// The rank on the host of `dest` to which that goes which host `from` sends it.
    Rank agent_in(Rank dest, Host from) const;
    /// The hosts, none of them `dest`, that send to it.
    std::vector<Host> senders_to(Host dest) const;

    const Machine& machine_;
    Aggregation aggregation_;
    bool are_long_;
    std::vector<int> ring_;
    std::vector<int> place_in_ring_;  // of each cluster
    SendTurns turns_;
    std::vector<int> place_;          // of each host in its cluster
    std::vector<int> place_on_host_;  // of each rank
};

}  // namespace laple
