// SPDX-License-Identifier: BSD-3-Clause
// Stands in for src/mpi/probe/local_time.cpp: simulated time, the same on all ranks.
#include "mpi/probe/local_time.hpp"

#include <cmath>

#include <mpi.h>
#include <smpi/smpi_helpers_internal.h>

namespace laple::mpi {

std::int64_t local_now_ns() {
    return std::llround(PMPI_Wtime() * 1e9);
}

void wait_until_local(std::int64_t time_ns) {
    const std::int64_t left_ns = time_ns - local_now_ns();
    if (left_ns <= 0) return;
    const timespec left{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    smpi_nanosleep(&left, nullptr);
}

std::string local_clock_name() {
    return "simulated time";
}

}  // namespace laple::mpi
