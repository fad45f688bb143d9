// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <mpi.h>

#include "mpi/process.hpp"

namespace laple::mpi {

/// Makes the ranks of `comm` agree. The lowest rank that has agreed on another communicator before hands that
/// on; if there is none, the lowest that has a good topology file gives it, and its settings, to all. Only
/// that one reads its file, unless it is no good. Nothing when no rank has one; if one was asked for, rank 0
/// says once what is wrong. Collective on `comm`, with MPI's own calls. An MPI error counts as no agreement.
std::optional<Agreement> agree(Process& process, MPI_Comm comm, int rank, int size);

}  // namespace laple::mpi
