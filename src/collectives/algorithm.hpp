// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "collectives/collective.hpp"
#include "collectives/tree.hpp"

namespace laple {

/// The tree that joins the groups of one level of the topology.
struct LevelShape {
    Shape shape;
    /// Where the edges to other groups leave a group: all from its coordinator (false), or each from the
    /// member that has the least to send so far (true), so that no single NIC carries the message several
    /// times.
    bool spread = false;

    bool operator==(const LevelShape&) const = default;
};

/// How the coordinators of the outermost groups combine their partial results (allreduce and barrier).
enum class Meeting {
    tree,      ///< reduce to one, broadcast from it: two latencies a tree level
    exchange,  ///< each sends to all others: one latency, C-1 messages each (MagPIe)
    doubling,  ///< recursive doubling: log2 C latencies
    scatter,   ///< each sums up a share of the message and sends it to all others: two latencies, least data
    regional,  ///< near clusters combine first, one for all of them exchanges: the far way once, few copies
};

/// How a collective is done, apart from the root and the size of the message. Has a name, which is what users
/// write in LAPLE_ALGORITHM and read in reports:
///
///     native                  MPI's own
///     flat/binomial           a flat tree over clusters, binomial trees inside: MagPIe's broadcast
///     flat/native             the same, with MPI's own collective inside the innermost groups
///     ecef/binomial           between clusters the order that a heuristic finds, from what the network costs
///     spread-chain/chain@8K   one pipeline through all ranks, cluster by cluster, in segments of 8 KiB
///     spread-chain/chain@8Kx4 the same in 4 lanes: segments take turns between 4 such trees, in which ranks
///                             change places (striped_trees.hpp)
///     spread-relayed/chain@8Kx12  in 12 lanes, which clusters take turns at passing on (relayed.hpp)
///     exchange/binomial       clusters reduce, coordinators exchange, clusters broadcast
///     exchange/flat@8Kx4      the same in 4 lanes: a quarter of the message has its own coordinators
///     scatter/flat@8Kx4       as before, but in each lane coordinators share the summing up
///     regional/flat@8Kx8      as exchange, but between regions, in which near clusters combine first
///
/// Meetings are for allreduce and barrier, relays for bcast.
///
/// Level names go from the outermost to the innermost. The last one is the tree over the ranks of an
/// innermost group; a topology with more levels repeats the name before it, one with fewer skips those in the
/// middle.
struct Algorithm {
    static constexpr int kMostLanes = 1024;

    bool is_native = false;
    Meeting meeting = Meeting::tree;  ///< replaces the outermost shape when not `tree`
    std::vector<LevelShape> between;  ///< outermost first; empty when there is a meeting and one level
    /// The rule that orders the messages between innermost groups by what the network costs (order_rule.hpp),
    /// in place of the shapes: of `between` only whether the one level in it is spread counts then. Empty:
    /// none.
    std::string order;
    Shape within;                ///< inside the innermost groups
    bool native_within = false;  ///< MPI's own collective there
    Bytes segment_bytes = 0;     ///< 0: the message is not cut
    int lanes = 1;               ///< more than one only with a meeting, or with spread trees in segments

    bool operator==(const Algorithm&) const = default;

    static Algorithm native() {
        Algorithm algorithm;
        algorithm.is_native = true;
        return algorithm;
    }
};

std::string name_of(const Algorithm& algorithm);

/// The inverse of name_of. Throws Error that lists the names for any other text, and for what makes no sense:
/// a meeting for bcast or reduce, lanes of undivided or not spread trees, segments with native_within.
Algorithm parse_algorithm(std::string_view name, Collective collective);

/// The grammar above and the names it is made of, for error messages and --help.
std::string algorithm_grammar();

}  // namespace laple
