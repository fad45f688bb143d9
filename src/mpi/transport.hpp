// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <mpi.h>

/// How the executor sends and waits. Simulated runs have an implementation of their own.
namespace laple::mpi {

/// MPI_Isend, or its like. Returns MPI's error code.
int start_send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request& request);

/// Waits until one of `requests`, of which none is MPI_REQUEST_NULL, is done. `finished` is its index, the
/// lowest if there are several, and MPI_UNDEFINED after an error. `status` is that of the message, and may be
/// MPI_STATUS_IGNORE. Returns MPI's error code.
int wait_for_any(std::vector<MPI_Request>& requests, int& finished, MPI_Status* status);

}  // namespace laple::mpi
