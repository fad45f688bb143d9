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
/// tree carries each block once out of a host, and once out of a cluster. (Kielmann et al., "MagPIe",
/// PPoPP'99, for one partial result from each cluster; Bienz, Gropp and Olson, "Node aware sparse
/// matrix-vector multiplication", JPDC 2019, for agents)
class BlockTrees {
  public:
    /// To the agent, to the carrier, to dest's host, to dest. What is sent in one hop waits for what earlier
    /// ones bring at most.
    static constexpr int kHops = 4;

    /// `machine` must outlive this. `are_long`: blocks do not go together.
    BlockTrees(const Machine& machine, Aggregation aggregation, bool are_long);

    /// What goes from one rank to another in one hop: partial results of the blocks of `dests`, in ascending
    /// order.
    struct Message {
        int hop;
        Rank from;
        Rank to;
        std::vector<Rank> dests;
    };
    /// Those that `rank` sends or gets, hop by hop, and in each hop by turns: one between two ranks in each.
    std::vector<Message> messages_of(Rank rank) const;

    /// A neighbour of a rank in the tree of a block.
    struct Neighbour {
        int hop;
        Rank rank;
    };
    /// Where `rank`, which is not `dest`, sends its part of the block of `dest`.
    Neighbour parent(Rank rank, Rank dest) const;
    std::vector<Neighbour> children(Rank rank, Rank dest) const;

  private:
    bool is_on_host_of(Rank rank, Rank dest) const {
        return machine_.host_of(rank) == machine_.host_of(dest);
    }
    Host carrier(int cluster, Host dest) const;
    /// The rank of `host` that combines, and passes on, its part of the block of `dest`, which is elsewhere.
    Rank agent_out(Host host, Rank dest) const;
    /// The rank on the host of `dest` to which that goes which host `from` sends it.
    Rank agent_in(Rank dest, Host from) const;
    /// The hosts, none of them `dest`, that send to it.
    std::vector<Host> senders_to(Host dest) const;

    const Machine& machine_;
    Aggregation aggregation_;
    bool are_long_;
    SendTurns turns_;
    std::vector<int> place_;          // of each host in its cluster
    std::vector<int> place_on_host_;  // of each rank
};

}  // namespace laple
