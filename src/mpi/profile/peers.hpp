// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/units.hpp"

namespace laple::mpi {

/// The rank in MPI_COMM_WORLD of rank `peer` of `comm`, of the other side of an intercommunicator;
/// Messages::kElsewhere for one of another world and for MPI_ANY_SOURCE, Messages::kNobody for MPI_PROC_NULL.
/// `comm` and `peer` must be what MPI has accepted. What is looked up is kept in an attribute of `comm`.
Rank peer_in_world(MPI_Comm comm, int peer);

}  // namespace laple::mpi
