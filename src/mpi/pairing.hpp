// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace laple::mpi {

/// Whether the process has a second MPI loaded beside the one that this library was built for: the program's.
/// Handles of one mean nothing to the other. Says so once, on the job's first rank as its launcher has it;
/// and ends the process where calls could not even be passed on to the program's own.
bool is_beside_another_mpi();

}  // namespace laple::mpi
