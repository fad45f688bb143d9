// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/transport.hpp"

#include <sched.h>

namespace laple::mpi {

int start_send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request& request) {
    return PMPI_Isend(data, count, type, to, tag, comm, &request);
}

/// Yields between looks: ranks may share cores, and MPICH polls without ever giving one away. Of MPI's ways
/// to look at several requests MPI_Testany alone does not poll the network in MPICH 4.0 when one is done
/// already, as small sends are at once.
int wait_for_any(std::vector<MPI_Request>& requests, int& finished, MPI_Status* status) {
    finished = MPI_UNDEFINED;
    int is_done = 0;
    while (true) {
        const int code =
            PMPI_Testany(static_cast<int>(requests.size()), requests.data(), &finished, &is_done, status);
        if (code != MPI_SUCCESS || is_done != 0) return code;
        sched_yield();
    }
}

}  // namespace laple::mpi
