// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple::mpi {

/// Writes "[laple RANK/SIZE] text" and a newline to stderr in one piece, RANK and SIZE being those of
/// MPI_COMM_WORLD. MPI must be initialised.
void say(const std::string& text);

}  // namespace laple::mpi
