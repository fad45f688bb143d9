// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/plan.hpp"
#include "collectives/schedule.hpp"

namespace laple {

/// Allreduce and barrier in three phases: each outermost group reduces to its coordinator, the coordinators
/// combine their partial results, each group broadcasts from its coordinator.
///
///     exchange (MagPIe, PPoPP'99): each coordinator sends to all others and all evaluate the same expression
///         p0 ∘ (p1 ∘ (p2 ∘ …)): one latency, the same bits everywhere
///     doubling: in round r, coordinators whose indices differ in bit r swap what they have; both evaluate
///         low ∘ high. When their number is no power of two, the first ones meet in pairs before and after.
///     scatter: every block has an owner among the coordinators, who gets the partial results of all others,
///         evaluates the same expression and sends the result back: two latencies, but each link carries a
///         block twice at most, where it carries it C-1 times in an exchange (reduce-scatter and allgather)
///     regional: the groups are regions of near clusters (regions.hpp), which combine at deputies first, then
///         at the region's coordinator; the coordinators exchange. The far way is gone once, and carries one
///         copy to each region, not to each cluster
///
/// With k lanes the blocks are divided among k sets of coordinators, different ranks where a group has that
/// many: with a flat tree inside, that is a local reduce-scatter, k meetings at once, and a local allgather
/// (GridMPI's latency-aware allreduce; algorithms.md 3f).
void expand_meeting(const Plan& plan, const Topology& topology, Rank rank, ScheduleBuilder& builder);

}  // namespace laple
