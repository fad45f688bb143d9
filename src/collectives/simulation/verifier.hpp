// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "collectives/collective/request.hpp"
#include "collectives/schedule/schedule.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Proves on symbols that the schedules of all ranks carry out `request`: runs them with expressions in place
/// of data, from the state before the collective to that after it, as its row says (collective.hpp), in an
/// order drawn from `seed`, sends completing as late as MPI allows. Checked:
///
///   - every step is done, every message received, by a receive of the same length
///   - nothing is read before it is written, and nothing written to an input
///   - every rank ends with what it must hold: another rank's unit, or the combination of every rank's
///     contribution exactly once, in rank order if the operation needs it
///   - where all ranks get a combination, it is the same expression, so the same bits, on all of them
///
/// With `in_place`, input and result are the same memory (MPI_IN_PLACE). Returns "" or what is wrong.
std::string verify(std::span<const Schedule> schedules, const Request& request, const Machine& machine,
                   std::uint64_t seed, bool in_place);

}  // namespace laple
