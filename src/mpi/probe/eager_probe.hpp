// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/units.hpp"

namespace laple::mpi {

/// The eager limit between this rank and `peer`, who calls answer_eager_limit(): the largest message, of some
/// sizes up to 256 KiB, whose MPI_Isend is complete a little later although nobody receives it yet. MPI sends
/// larger ones by rendezvous, after the receiver has asked for them.
///
///     this rank   Isend 8K ─ done? ─ 12K ─ done? ─ 16K ─ done? ─ 24K ─ not done: the limit is 16K
///     peer             receives each when it has been told that it was looked at
///
/// Takes about a millisecond for each size that is tried.
Bytes measure_eager_limit(MPI_Comm probes, int peer);

/// The other half.
void answer_eager_limit(MPI_Comm probes, int peer);

}  // namespace laple::mpi
