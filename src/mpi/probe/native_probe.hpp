// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/probe/waiting.hpp"
#include "plogp/job_times.hpp"

namespace laple::mpi {

/// Measures MPI's own call of each collective (collective.hpp) on `comm`, reductions with doubles: calls that
/// all ranks begin at agreed instants. Sizes grow from 8 bytes until calls take long or the time is over.
/// What is `known` already is not measured again. Collective; the result is rank 0's, whose `known` and
/// `patience` count.
///
/// Takes about `most`.
JobTimes measure_natives(MPI_Comm comm, Seconds most, const Patience& patience, JobTimes known = {});

/// Seconds for each byte that MPI_Reduce_local combines, at best: a sum of doubles, in pieces that a cache
/// holds. Local. (γ in docs/algorithms.md)
double measure_reduction();

}  // namespace laple::mpi
