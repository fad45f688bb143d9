// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace laple::mpi {

/// Whether MPI's calls take buffers in the memory of a GPU: MPICH was built for one, and its
/// MPIR_CVAR_ENABLE_GPU is not 0. LaPle reads and writes buffers with the CPU. Local; MPI must be running.
bool may_have_gpu_buffers();

}  // namespace laple::mpi
