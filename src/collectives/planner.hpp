// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "collectives/network_costs.hpp"
#include "collectives/plan.hpp"
#include "collectives/rules.hpp"
#include "topology/topology.hpp"

namespace laple {

/// Messages of more bytes are left to MPI: ranks count in int.
inline constexpr Bytes kMostPlannedBytes = std::numeric_limits<int>::max();

/// Chooses how to do a call. A pure function of its arguments, so every rank that holds the same topology,
/// rules and costs chooses the same without a message.
///
/// In this order: what the rules want and the algorithm can do exactly; of the algorithms that candidates.hpp
/// prices the one with the shortest time, unless forbidden; MPI's own. One cluster, one rank, an empty
/// broadcast, reduce or allreduce, and more than kMostPlannedBytes are always left to MPI.
///
/// Without costs, and where an operation must keep the order of ranks, those algorithms are taken that
/// planner.cpp holds to be good for such a size.
Plan choose_plan(const Request& request, const Topology& topology, const Rules& rules,
                 const NetworkCosts& costs = {});

/// The request that stands for all of about the same size: of its units only the three highest bits count.
/// What is chosen for it is good for all of them, so that programs whose messages have many sizes do not plan
/// each anew.
Request size_class_of(Request request);

/// The plan of a reduction whose bits may not depend on the topology: on Topology::flat() of the
/// communicator's size, to which the result's tree_of() and expand() are to be applied.
///
///     0 ← 1    2 ← 3    4 ← 5    6 ← 7       binomial over the ranks in their order: what a rank gets comes
///     0 ←───── 2        4 ←───── 6           from the right, the nearest first; segments change nothing
///     0 ←─────────────── 4                   (algorithms.md 3i: "strict")
Plan plan_in_fixed_order(Request request);

}  // namespace laple
