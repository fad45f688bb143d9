// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "topology/clustering.hpp"
#include "topology/latency_matrix.hpp"

namespace laple::discover {

/// Told on rank 0 after each round: how many of how many are done.
using Progress = std::function<void(int done, int rounds)>;

struct Effort {
    ClusteringOptions clustering;  ///< to tell which pairs look disturbed

    /// A pair's shortest round trip must have stayed the shortest for so long. The default is that of several
    /// time slices of a scheduler: where ranks share processors, short round trips come in bursts, and a
    /// whole burst may be disturbed.
    Seconds settle = std::chrono::milliseconds(20);
};

/// Measures the latency between all ranks of `probes`, in rounds of disjoint pairs (probe_rounds.hpp), and
/// then again, in less traffic, between the pairs that look disturbed (doubtful_pairs). Collective.
/// Returns the matrix on rank 0; a matrix without nodes elsewhere.
///
/// The latency of a pair is half the shortest round trip of an empty message: queues, in the network or for
/// the processor, only ever add to it. (seed 003, "First Phase"; algorithms.md 3b)
LatencyMatrix measure_latencies(MPI_Comm probes, const Effort& effort, const Progress& progress);

}  // namespace laple::discover
