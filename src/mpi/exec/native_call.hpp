// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "collectives/collective/collective.hpp"

namespace laple::mpi {

/// What MPI's own collectives take.
struct NativeArguments {
    const void* input = nullptr;  ///< what the rank contributes, where that is not in `result`
    void* result = nullptr;
    int count = 0;  ///< elements that a rank contributes, of each block, or of the message
    MPI_Datatype type = MPI_BYTE;
    MPI_Op op = MPI_OP_NULL;
    int root = 0;
    MPI_Comm comm = MPI_COMM_NULL;
};

/// MPI's own blocking collective, by PMPI; for measuring it, and for comparing results with it. Returns MPI's
/// error code.
int call_native(Collective collective, const NativeArguments& arguments);

}  // namespace laple::mpi
