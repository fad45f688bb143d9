// SPDX-License-Identifier: BSD-3-Clause
// Stands in for src/mpi/exec/transport.cpp.
#include "mpi/exec/transport.hpp"

#include <algorithm>

#include "mpi/probe/waiting.hpp"

namespace laple::mpi {

/// A synchronous send is done when its data have arrived. A plain one is done at once, and then SimGrid would
/// let all that were ever started share the link, where TCP sends one after the other.
int start_send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request& request) {
    return PMPI_Issend(data, count, type, to, tag, comm, &request);
}

int look_for_any(std::vector<MPI_Request>& requests, int& finished, MPI_Status* status) {
    finished = MPI_UNDEFINED;
    int is_done = 0;
    return PMPI_Testany(static_cast<int>(requests.size()), requests.data(), &finished, &is_done, status);
}

/// In simulation a look costs simulated time, waiting does not.
int wait_for_any(std::vector<MPI_Request>& requests, int& finished, MPI_Status* status) {
    finished = MPI_UNDEFINED;
    return PMPI_Waitany(static_cast<int>(requests.size()), requests.data(), &finished, status);
}

Seconds clock_time() {
    return now();
}

/// Only sleeping takes simulated time. Not all of it: something may complete. Nor ever so little: each look
/// at the requests of hundreds of ranks takes real time.
void let_time_pass(Seconds time) {
    constexpr Seconds kShort{1e-4};
    rest(std::min(time, std::max(kShort, time / 4)));
}

}  // namespace laple::mpi
