// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace laple::mpi {

/// Seconds for each byte that MPI_Reduce_local combines, at best: a sum of doubles, in pieces that a cache
/// holds. Local. (γ in docs/algorithms.md)
double measure_reduction();

}  // namespace laple::mpi
