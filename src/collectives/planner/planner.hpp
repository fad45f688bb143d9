// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "collectives/algorithms/candidate.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/rules.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Messages of more bytes are left to MPI: ranks count in int.
inline constexpr Bytes kMostPlannedBytes = std::numeric_limits<int>::max();

/// Chooses how to do a call. A pure function of its arguments, so every rank that holds the same machine,
/// rules and costs chooses the same without a message.
///
/// In this order: what the rules want and the algorithm can do exactly; what earlier jobs have found best by
/// trial (known_calls.hpp); of the algorithms that have a price (pricing.hpp) the one with the shortest time,
/// unless forbidden; MPI's own. Messages without data, and
/// those of more than kMostPlannedBytes, are always left to MPI.
///
/// Where links between clusters are known to carry more by streams (MachineCosts::Link::streams), the same
/// choice is made with these, too, and holds where it is predicted to take kStreamsGain times as long at
/// most. Blocks of different sizes go by streams where long ones that are equal would. Where their number is
/// given (MachineCosts::use_streams), all of LaPle's own go by them, and the choice is between these and
/// MPI's own.
///
/// Without costs, and where an operation must keep the order of ranks (but in scans, which always do), those
/// algorithms are taken that preferences.hpp holds to be good for such a size; and on a single cluster MPI's
/// own.
Plan choose_plan(const Request& request, const Machine& machine, const Rules& rules,
                 const MachineCosts& costs = {});

inline constexpr double kStreamsGain = 0.9;

/// All that such a call is chosen from, the fastest first. `costs` say what messages of LaPle's take, with or
/// without streams, and `of_mpi` what those of MPI's own call take, which knows none.
std::vector<Candidate> candidates(const Request& request, const Machine& machine, const MachineCosts& costs,
                                  const MachineCosts& of_mpi);

/// How many connections a rank of cluster `a` and one of `b` have for blocks of different sizes. Each rank
/// shares out among all that it may have blocks for about as many as fill its host's link
/// (MachineCosts::Link::streams), and has one to each at least; 0: these were too many, or there are no
/// blocks between the two. Equal for `b` and `a`.
int streams_of_pair(const Request& request, const Machine& machine, const MachineCosts& costs, int a, int b);

/// choose_plan()'s choice, and after it the plans that trials may find to be faster (trials.hpp): MPI's own
/// call, the best one without streams, the same algorithm with longer segments, and the best of others, none
/// of them predicted to take much longer; and MPI's own call even where that is predicted to (trials.hpp). At
/// most kMostToTry; the choice alone where rules or a lack of costs have made it.
std::vector<Plan> plans_to_try(const Request& request, const Machine& machine, const Rules& rules,
                               const MachineCosts& costs);
inline constexpr std::size_t kMostToTry = 5;

/// Gives a plan that was made for other counts of the blocks the windows for those of its request.
void fit_windows(const Machine& machine, const MachineCosts& costs, Plan& plan);

/// The request that stands for all requests of about the same size: only the three highest bits of the units
/// count. One choice serves all of them, so programs with many message sizes do not plan each of them anew.
Request size_class_of(Request request);
/// The same of bytes.
Bytes size_class_of(Bytes bytes);

/// The plan of a reduction whose bits must not depend on the machine. It is made for, and to be expanded on,
/// Machine(Topology::flat(size)): every rank on a host of its own, in one cluster.
///
///     0 ← 1    2 ← 3    4 ← 5    6 ← 7       binomial over the ranks in their order: what a rank gets comes
///     0 ←───── 2        4 ←───── 6           from the right, the nearest first; segments change nothing
///     0 ←─────────────── 4                   (docs/algorithms.md: "strict")
Plan plan_in_fixed_order(Request request);

}  // namespace laple
