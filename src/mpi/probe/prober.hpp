// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>

#include <mpi.h>

#include "base/units.hpp"
#include "topology/survey.hpp"

namespace laple::mpi {

/// Told on rank 0 after each pair it has measured: how many of how many it will, as far as is known.
using Progress = std::function<void(int done, int pairs)>;

/// A pair's shortest round trip must have stayed the shortest for so long. The default is that of several
/// time slices of a scheduler: where ranks share processors, short round trips come in bursts, and a whole
/// burst may be disturbed.
inline constexpr Seconds kSettle = std::chrono::milliseconds(20);

/// Measures latencies between the ranks of `probes` as `survey` asks for them: rounds of disjoint pairs.
/// Collective; rank 0 gives the survey, the others nullptr.
///
/// The latency of a pair is half the shortest round trip of an empty message: queues, in the network or for
/// the processor, only ever add to it. (seed 003, "First Phase"; algorithms.md 3b)
void measure_latencies(MPI_Comm probes, Seconds settle, Survey* survey, const Progress& progress);

}  // namespace laple::mpi
