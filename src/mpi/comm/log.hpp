// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple::mpi {

/// Writes "[laple RANK/SIZE] text" and a newline to stderr in one piece, RANK and SIZE being those of
/// MPI_COMM_WORLD. MPI must be initialised.
void say(const std::string& text);

/// Ends the job, where `what` has failed because no memory is left: other ranks wait for this one, and
/// nothing can be told to them.
void end_without_memory(const char* what) noexcept;

}  // namespace laple::mpi
