// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

/// Stands before UCX where MPICH is built on it: sees each look of MPI's at the network.
namespace laple::mpi {

/// Looks at the network; returns how much was found there.
using Progress = unsigned (*)(void* worker);
/// UCX's own; nullptr until MPI has made a worker, or where it has none.
Progress ucx_progress();
/// Those that MPI has made and not destroyed yet.
std::vector<void*> ucx_workers();

/// Whether MPI's calls that wait look at the network by way of this library. MPI must be running.
bool sees_progress();
/// Has `work` done at each of MPI's looks at the network, on the thread that looks; nullptr: no more. MPI may
/// hold its lock then, where threads may race (MPI_THREAD_MULTIPLE).
void at_progress(void (*work)());

}  // namespace laple::mpi
