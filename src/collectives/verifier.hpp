// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/plan.hpp"
#include "collectives/schedule.hpp"
#include "topology/topology.hpp"

namespace laple {

/// Proves on symbols that the schedules of all ranks carry out `plan`: runs them with expressions in place of
/// data, in an order drawn from `seed`, sends completing as late as MPI allows. Checked:
///
///   - every step is done, every message received, by a receive of the same length and the same block
///   - nothing is read before it is written
///   - a broadcast leaves the root's value everywhere
///   - a reduction combines every rank's contribution exactly once, in rank order if the operation needs it
///   - an allreduce leaves the same expression, so the same bits, on every rank
///
/// With `in_place`, input and result are the same memory (MPI_IN_PLACE). Returns "" or what is wrong.
std::string verify(std::span<const Schedule> schedules, const Plan& plan, const Topology& topology,
                   std::uint64_t seed, bool in_place);

/// The schedules of all ranks.
std::vector<Schedule> expand_all(const Plan& plan, const Topology& topology);

}  // namespace laple
