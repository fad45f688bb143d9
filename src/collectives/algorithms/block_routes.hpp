// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "collectives/algorithms/send_turns.hpp"
#include "collectives/collective/collective.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Which of its `ranks` ranks a host sends to another one by, where they take turns at the other hosts.
inline std::size_t agent_index(Host host, Host other, std::size_t ranks) {
    return static_cast<std::size_t>(other < host ? other : other - 1) % ranks;
}

/// Data from one rank for one other, in a personalized collective.
struct Block {
    Rank source = 0;
    Rank dest = 0;
    bool operator==(const Block&) const = default;
};

/// Which blocks go together in one message.
enum class Aggregation {
    none,        ///< each goes straight to its destination
    by_host,     ///< all from one host to another
    by_cluster,  ///< all from one cluster to another; inside a cluster all from one host to another
};

/// The ranks that blocks pass on their way.
///
///     by_host       source ─► agent ═══► agent ─► dest
///     by_cluster    source ─► agent ─► carrier ═══► carrier ─► agent ─► dest
///
/// An agent is a rank of the host, another one for each other host; a carrier one of the cluster, another
/// one for each other cluster: all ranks share the work. The root of a rooted collective is all of these on
/// its side. (Kielmann et al., "MagPIe", PPoPP'99, for one message between two clusters; Bienz, Gropp and
/// Olson, "Node aware sparse matrix-vector multiplication", JPDC 2019, for agents that share the work)
class BlockRoutes {
  public:
    /// A hop leads from one stage to the next; 2 is the one in the middle.
    static constexpr int kHops = 5;
    static constexpr int kMiddle = 2;
    using Route = std::array<Rank, kHops + 1>;

    /// The references must outlive this.
    BlockRoutes(const Request& request, const Machine& machine, Aggregation aggregation);

    /// From `block.source` to `block.dest`; where two that follow each other are equal, it stays there.
    Route route(Block block) const;

    /// What goes from one rank to another in one hop.
    struct Message {
        int hop;
        Rank from;
        Rank to;
        std::vector<Block> blocks;  ///< in the order of destinations, then of sources
    };
    /// Those that `rank` sends or gets, hop by hop, and in each hop by turns. Both ends of a message have it
    /// in the same place among all between the two.
    std::vector<Message> messages_of(Rank rank) const;

    /// At most so many blocks a rank has room for beside its own buffers.
    std::size_t most_blocks() const;

    /// The rank of a cluster that sends all blocks for another one, and gets all from there.
    Rank carrier(int cluster, int other) const;

  private:
    bool has_root_in(int cluster) const;
    bool exists(Block block) const;
    /// The rank of a host that passes on what goes to, or comes from, `other` outside the host.
    Rank agent(Host host, Rank other) const;
    Rank agent_for_host(Host host, Host other) const;
    std::size_t most_blocks_of_agent(Host host) const;
    template <typename Use>
    void for_each_block_at(Rank rank, Use use) const;

    const Request& request_;
    const Machine& machine_;
    Aggregation aggregation_;
    SendTurns turns_;
    Rank root_ = -1;  // -1: none
};

/// The sum of `count(a, b)` over all clusters a and other clusters b; where it is larger, the largest int.
template <typename Count>
int sum_over_pairs(const Machine& machine, Count count) {
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    std::int64_t sum = 0;
    for (int a = 0; a < machine.cluster_count(); ++a) {
        for (int b = 0; b < machine.cluster_count(); ++b)
            sum = std::min(sum + (a == b ? 0 : std::int64_t{count(a, b)}), kMost);
    }
    return static_cast<int>(sum);
}

/// A block that goes straight from its source to its destination, as one of these two sees it.
struct StraightBlock {
    Rank peer = 0;
    bool is_sent = false;
    bool is_far = false;     ///< to or from another cluster
    std::size_t number = 0;  ///< among the blocks that the rank has for others, or gets
};
/// All blocks that `rank` sends or gets, those of itself not among them, in the order of
/// BlockRoutes::messages_of(), but clusters in that of root_order() where this is not empty.
std::vector<StraightBlock> straight_blocks(const Request& request, const Machine& machine, Rank rank,
                                           const std::vector<int>& order);

}  // namespace laple
