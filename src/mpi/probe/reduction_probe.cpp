// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/reduction_probe.hpp"

#include <algorithm>
#include <vector>

#include <mpi.h>

#include "mpi/probe/waiting.hpp"

namespace laple::mpi {

double measure_reduction() {
    constexpr int kCount = 8 * 1024;  // 64 KiB
    constexpr int kTrials = 20;
    const std::vector<double> input(kCount, 1.0);
    std::vector<double> result(kCount, 0.0);
    Seconds best = Seconds::max();
    for (int i = 0; i < kTrials; ++i) {
        const Seconds start = now();
        PMPI_Reduce_local(input.data(), result.data(), kCount, MPI_DOUBLE, MPI_SUM);
        best = std::min(best, now() - start);
    }
    return best.count() / (kCount * sizeof(double));
}

}  // namespace laple::mpi
