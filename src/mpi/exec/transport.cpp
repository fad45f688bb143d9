// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/transport.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <sched.h>

namespace laple::mpi {

int start_send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request& request) {
    return PMPI_Isend(data, count, type, to, tag, comm, &request);
}

/// Of MPI's ways to look at several requests MPI_Testany alone does not poll the network in MPICH 4.0 when
/// one is done already, as small sends are at once.
int look_for_any(std::vector<MPI_Request>& requests, int& finished, MPI_Status* status) {
    finished = MPI_UNDEFINED;
    int is_done = 0;
    return PMPI_Testany(static_cast<int>(requests.size()), requests.data(), &finished, &is_done, status);
}

/// Yields between looks: ranks may share cores, and MPICH polls without ever giving one away.
int wait_for_any(std::vector<MPI_Request>& requests, int& finished, MPI_Status* status) {
    while (true) {
        const int code = look_for_any(requests, finished, status);
        if (code != MPI_SUCCESS || finished != MPI_UNDEFINED) return code;
        sched_yield();
    }
}

Seconds clock_time() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

/// Others get the processor. Who waits for its turn on a long link is not missed for a moment: sleeping costs
/// ranks that share cores less than looking at the clock does.
void let_time_pass(Seconds time) {
    constexpr Seconds kWorthSleeping{5e-5};
    constexpr Seconds kLongest{1e-4};
    if (time < kWorthSleeping) {
        sched_yield();
    } else {
        std::this_thread::sleep_for(std::min(time, kLongest));
    }
}

}  // namespace laple::mpi
