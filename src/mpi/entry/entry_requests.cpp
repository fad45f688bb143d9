// SPDX-License-Identifier: BSD-3-Clause
// What starts and frees requests, of messages as well as of collectives. liblaple_profile has functions of
// its own in place of these (mpi/profile/entry_profile.cpp).
#include <mpi.h>

#include "mpi/call/started.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

LAPLE_EXPORT int MPI_Start(MPI_Request* request) {
    return laple::mpi::start_persistent(request);
}

LAPLE_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
    return laple::mpi::start_all_persistent(count, requests);
}

LAPLE_EXPORT int MPI_Request_free(MPI_Request* request) {
    return laple::mpi::free_request(request);
}
