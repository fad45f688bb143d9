// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <mpi.h>

#include "base/units.hpp"

/// How messages are sent and waited for. Simulated runs have an implementation of their own.
namespace laple::mpi {

/// MPI_Isend, or its like. Returns MPI's error code.
int start_send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request& request);

/// Looks once whether one of `requests`, of which none is MPI_REQUEST_NULL, is done. `finished` is its index,
/// the lowest if there are several; MPI_UNDEFINED where none is, and after an error. Returns MPI's error
/// code.
int look_for_any(std::vector<MPI_Request>& requests, int& finished, MPI_Status* status);

/// The same, and waits until one is done. `status` is that of the message, and may be MPI_STATUS_IGNORE.
int wait_for_any(std::vector<MPI_Request>& requests, int& finished, MPI_Status* status);

/// This process's time since some instant.
Seconds clock_time();

/// Lets some time pass, at most `time`, without any call of MPI.
void let_time_pass(Seconds time);

}  // namespace laple::mpi
