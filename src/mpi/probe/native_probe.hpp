// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/probe/waiting.hpp"
#include "plogp/job_times.hpp"

namespace laple::mpi {

/// `few`: four sizes, and no call that is expected to take long, because a job waits. `many`: eight.
enum class NativeSizes { few, many };

/// Measures MPI's own call of each collective (collective.hpp) on `comm`, reductions with doubles: calls that
/// all ranks begin at agreed instants: those that programs call most first, and sizes that tell most. What is
/// `known` already is not measured again, nor, unless `wants_exchange`, JobTimes::exchange; `is_unfinished`
/// where the time was too short for the rest. Collective; the result is rank 0's, whose `known` and
/// `patience` count.
///
/// Takes about `most`.
JobTimes measure_natives(MPI_Comm comm, NativeSizes sizes, Seconds most, const Patience& patience,
                         JobTimes known = {}, bool wants_exchange = false);

/// Seconds for each byte that MPI_Reduce_local combines, at best: a sum of doubles, in pieces that a cache
/// holds. Local. (γ in docs/algorithms.md)
double measure_reduction();

}  // namespace laple::mpi
