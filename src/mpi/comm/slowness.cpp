// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/slowness.hpp"

#include <algorithm>
#include <array>

#include "mpi/exec/communicator.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr int kBarriers = 5;

/// On rank 0 of `inner`.
double slowness_of(const TimedBarrier& barrier, MPI_Comm inner) {
    std::array<double, kBarriers> mine{};
    std::array<double, kBarriers> sums{};
    barrier.run();
    for (double& ratio : mine) {
        const Seconds start = now();
        barrier.run();
        ratio = (now() - start) / barrier.predicted;
    }
    if (PMPI_Reduce(mine.data(), sums.data(), kBarriers, MPI_DOUBLE, MPI_SUM, 0, inner) != MPI_SUCCESS)
        return 0;
    return *std::min_element(sums.begin(), sums.end()) / size_of(inner);
}

}  // namespace

double find_slowness(const SlownessWatch::Ratios& ratios, const std::optional<TimedBarrier>& barrier,
                     MPI_Comm inner) {
    const double of_barrier = barrier ? slowness_of(*barrier, inner) : 0;
    SlownessWatch::Ratios least{};
    if (PMPI_Reduce(ratios.data(), least.data(), SlownessWatch::kWindow, MPI_DOUBLE, MPI_MIN, 0, inner) !=
            MPI_SUCCESS ||
        rank_in(inner) != 0) {
        return 0;
    }
    return std::max(SlownessWatch::typical(least), of_barrier);
}

}  // namespace laple::mpi
