// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "mpi/call/call.hpp"

/// Collectives that are started by one call and completed by another. They run the plans of the blocking
/// ones, as other calls and the progress engine let them go on (progress_engine.hpp).
namespace laple::mpi {

/// MPI_Ibcast, ...: starts `call`, whose `native` is MPI's own way to start it and sets `request` as well.
/// MPI does the call itself where LaPle could not start it without waiting for others: on a communicator that
/// no blocking collective has been called on yet; and where nothing lets calls go on by themselves. Local.
/// Returns the MPI error code that the intercepted call shall return.
int start(const Call& call, MPI_Request* request);

/// MPI_Bcast_init, ...: the same for a call that will be started again and again. Collective: sets the
/// communicator up if this is its first collective.
int init(const Call& call, MPI_Request* request);

/// MPI_Start of a request of any kind.
int start_persistent(MPI_Request* request);
/// MPI_Startall.
int start_all_persistent(int count, MPI_Request* requests);
/// MPI_Request_free and MPI_Cancel of a request of any kind. Both are errors while a non-blocking collective
/// is under way; a persistent one is freed when it is complete.
int free_request(MPI_Request* request);
int cancel(MPI_Request* request);

}  // namespace laple::mpi
