// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <mpi.h>

namespace laple::mpi {

/// Makes the connections to all of `peers`, who all call this too, at the same time: each takes some round
/// trips. MPI makes them at the first message. In simulations there are none to make, and nothing is sent.
void connect(MPI_Comm probes, const std::vector<int>& peers);

}  // namespace laple::mpi
