// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace laple::mpi {

/// Whether the process has a second MPI loaded beside the one that this library was built for: the program's.
/// Handles of one mean nothing to the other. Says so once, on the job's first rank as its launcher has it;
/// and ends the process where calls could not even be passed on to the program's own.
bool is_beside_another_mpi();

/// Whether another copy of LaPle (liblaple beside liblaple_deep) comes first where the loader looks for
/// symbols: the program's calls are the other's.
bool is_behind_another_laple();

}  // namespace laple::mpi
