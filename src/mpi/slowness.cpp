// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/slowness.hpp"

#include <algorithm>

#include "mpi/probe/waiting.hpp"

namespace laple::mpi {

double find_slowness(const SlownessWatch::Ratios& ratios, const TimedBarrier& barrier, MPI_Comm shadow) {
    int rank = 0;
    int size = 0;
    PMPI_Comm_rank(shadow, &rank);
    PMPI_Comm_size(shadow, &size);
    SlownessWatch::Ratios least{};
    double sum = 0;
    barrier.run();
    const Seconds start = now();
    barrier.run();
    const double mine = (now() - start) / barrier.predicted;
    if (PMPI_Reduce(ratios.data(), least.data(), SlownessWatch::kWindow, MPI_DOUBLE, MPI_MIN, 0, shadow) !=
            MPI_SUCCESS ||
        PMPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, shadow) != MPI_SUCCESS || rank != 0) {
        return 0;
    }
    return std::max(SlownessWatch::typical(least), sum / size);
}

}  // namespace laple::mpi
