// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "mpi/call/call.hpp"

/// Between the intercepted symbols and the rest: the one way of a call.
namespace laple::mpi {

/// Does a collective call, and returns the MPI error code that the intercepted call shall return. What LaPle
/// cannot treat exactly, and every call with arguments that MPI would refuse, goes to `call.native`, on all
/// ranks alike. It throws only what a user's error handler or operation throws.
///
///     enabled? set up? valid? → plan → record, run, note, verify, watch → finish
int treat(const Call& call);

/// Looks for "laple_algorithm" in what MPI_Comm_set_info or MPI_Comm_dup_with_info gave to `comm`. Collective
/// when it is there: then it must be there on all ranks; rank 0's value holds.
void heed_info(MPI_Comm comm, MPI_Info info) noexcept;

}  // namespace laple::mpi
