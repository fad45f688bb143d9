// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <mpi.h>

#include "base/units.hpp"
#include "bench/laple-bench/benchmark.hpp"
#include "bench/laple-bench/block_sizes.hpp"
#include "mpi/probe/clock.hpp"

namespace laple::bench {

/// Compares the MPI_ calls with the PMPI_ ones, outside the measured calls.
class Checker {
  public:
    /// Both communicators and the clock must outlive the checker and have the same ranks.
    Checker(MPI_Comm world, MPI_Comm control, const mpi::Clock& clock)
        : world_(world), control_(control), clock_(clock) {}

    /// Collective. Runs the collective with several roots, `root` among them, and where it may, in place.
    /// Every byte of the results, around the buffers, and of the send buffers has to be right; a barrier may
    /// let no rank go before the last one came. Returns, on all ranks, what is wrong first, or "".
    std::string first_error(Benchmark benchmark, Spread spread, Bytes bytes, Rank root) const;

  private:
    std::string compare(Benchmark benchmark, Spread spread, Bytes bytes, Rank root, bool in_place) const;
    std::string check_barrier(Rank late_rank) const;
    std::string lowest_ranks(const std::string& error) const;

    MPI_Comm world_;
    MPI_Comm control_;
    const mpi::Clock& clock_;
};

}  // namespace laple::bench
