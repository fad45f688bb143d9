// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/units.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/blocks.hpp"
#include "collectives/collective.hpp"
#include "collectives/regions.hpp"
#include "collectives/schedule.hpp"
#include "collectives/send_order.hpp"
#include "collectives/striped_trees.hpp"
#include "topology/topology.hpp"

namespace laple {

/// What a call asks for: all that a plan may depend on, and equal on all ranks of the communicator.
struct Request {
    Collective collective = Collective::bcast;
    std::uint64_t units = 0;  ///< bytes of a broadcast, elements of a reduction, 0 of a barrier
    Bytes unit_bytes = 1;
    Rank root = 0;                ///< of bcast and reduce; 0 otherwise
    bool commutative = true;      ///< of the operation; true where there is none
    bool in_fixed_order = false;  ///< combine as one tree over the ranks does, whatever the topology

    Bytes bytes() const { return units * unit_bytes; }
    bool operator==(const Request&) const = default;
};

/// How one call will be done, the same on every rank: a pure function of request, topology and settings.
struct Plan {
    Request request;
    Algorithm algorithm;
    std::string reason;    ///< why this one, for people
    SendOrder order = {};  ///< of the innermost clusters, where the algorithm names a rule for it
    /// How much of the message the coordinators of each outermost group sum up, in a scatter meeting; empty:
    /// all alike.
    std::vector<int> shares = {};
    RegionList regions = {};       ///< of a regional meeting; empty: the outermost groups
    std::vector<int> relays = {};  ///< clusters that pass on a lane each, in turn (relayed.hpp); else empty
    Seconds predicted{0};          ///< 0: not known
    Bytes window_bytes = 0;        ///< under way in a channel to another cluster; 0: as much as is usual
    /// In a meeting, by innermost cluster: how far a rank's contributions inside its cluster may be ahead of
    /// those that come to it there. Empty: as is usual.
    std::vector<Bytes> pace_bytes = {};
    std::string passed_over = {};  ///< what rules ask for, but cannot be done here, and why; empty: nothing
    Bytes lead_bytes = 0;  ///< in a meeting: how far contributions may be ahead of results; 0: no limit

    Blocks blocks() const { return Blocks::cut(request.units, request.unit_bytes, algorithm.segment_bytes); }
};

/// Whether `algorithm` can carry out `request` exactly on `topology`. Reasons against it: the operation is
/// not commutative and the tree cannot keep rank order (an order by costs is never asked to, nor are lanes,
/// nor regions); relays are wanted, and clusters are in groups; the native call is wanted within clusters, or
/// trees in lanes or regions between them, and there are none; a shape is wanted for the lanes between
/// clusters of several levels.
bool can_do(const Algorithm& algorithm, const Request& request, const Topology& topology);

/// This rank's steps. `plan.algorithm` must not be native and can_do() must hold.
///
/// Every rank that expands the same plan on the same topology gets its part of one consistent whole: each
/// send has its receive, in the same order on both sides, and no cycle of waiting (checked by the verifier).
Schedule expand(const Plan& plan, const Topology& topology, Rank rank);

/// The tree that a rooted plan uses. A reduction that must keep rank order runs towards rank 0, which
/// passes the result on to the root: only there does every subtree hold consecutive ranks.
Rank tree_root(const Request& request);

/// The tree over all ranks of a plan without a meeting; of one with lanes, the first.
Tree tree_of(const Plan& plan, const Topology& topology);

/// The trees of a plan with lanes but without a meeting. `topology` must outlive them.
LaneTrees lane_trees_of(const Plan& plan, const Topology& topology);

}  // namespace laple
