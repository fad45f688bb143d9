// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/units.hpp"
#include "collectives/schedule.hpp"
#include "plogp/curve.hpp"

namespace laple {

/// What ranks of one cluster do together. The last four are parts of larger collectives: a broadcast that
/// scatters and then gathers, an allreduce that scatters its sums.
enum class LocalCollective { bcast, reduce, allreduce, barrier, scatter, gather, allgather, reduce_scatter };

std::string_view name_of(LocalCollective collective);
std::optional<LocalCollective> local_collective_named(std::string_view name);

/// A cluster whose ranks are all alike, as pLogP sees it.
struct LocalCluster {
    int ranks = 1;
    double latency = 0;    ///< L, in seconds
    Curve gap;             ///< g(m) of a single message
    Curve stream;          ///< g(m) of many in a row
    double reduction = 0;  ///< γ, seconds for each byte combined
    /// Messages of at least so many bytes wait for an answer before they leave. Measured gaps hold that wait
    /// already: then it is not to be counted again.
    Bytes handshake_from = std::numeric_limits<Bytes>::max();

    double gap_of(Bytes bytes) const { return gap.at(bytes).count(); }
    /// L, or where there is a handshake 2 g(1) + 3 L. (seed 003, "rendezvous")
    double latency_of(Bytes bytes) const {
        return bytes < handshake_from ? latency : 2 * gap_of(1) + 3 * latency;
    }
};

/// The ranks of one cluster, seen by one of them.
struct LocalRanks {
    std::span<const Rank> ranks;  ///< the root first, where there is one
    int self = 0;                 ///< index of this rank
};

/// One way to do one collective inside a homogeneous cluster of P ranks, the first of which is the root.
///
/// A message is the largest that any rank holds: of scatter, gather, allgather and reduce_scatter all P
/// parts.
struct Strategy {
    LocalCollective collective;
    std::string_view name;
    std::string_view formula;  ///< how long it takes, and the source
    /// How the message may be cut.
    enum class Cut {
        whole,     ///< not at all
        segments,  ///< into segments of any size
        parts,     ///< into as many blocks as there are ranks
    };
    Cut cut;
    bool needs_power_of_two;  ///< of ranks

    /// How long it takes, in seconds; `segment` bytes at a time, 0 for the whole.
    double (*time)(const LocalCluster& cluster, Bytes bytes, Bytes segment);
    /// Adds this rank's steps. Contributions to a reduction are in kInput, all else in kResult.
    void (*add_steps)(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);

    bool is_for(int ranks) const { return !needs_power_of_two || (ranks & (ranks - 1)) == 0; }
    Blocks blocks(int ranks, Bytes bytes, Bytes segment) const;
};

/// All of them, in the order of LocalCollective.
///
///     bcast           flat, binomial, binary, chain, each undivided or in segments; two-tree, in segments;
///                     scatter-ring and scatter-doubling (van de Geijn)
///     reduce          flat, binomial, binary, chain, undivided or in segments; halving-gather (Rabenseifner)
///     allreduce       doubling, halving-doubling (Rabenseifner), ring, binomial (reduce and broadcast)
///     barrier         dissemination, binomial
///     scatter, gather flat, binomial, chain
///     allgather       ring, doubling
///     reduce_scatter  ring, halving
std::span<const Strategy> strategies();

/// This rank's steps of a message of `bytes` bytes in a cluster that is a whole communicator.
Schedule schedule_of(const Strategy& strategy, int ranks, int self, Bytes bytes, Bytes segment);

/// Of the sizes of segments that are worth a look the one that takes least; 0 where the message is not cut.
Bytes best_segment(const Strategy& strategy, const LocalCluster& cluster, Bytes bytes);

}  // namespace laple
