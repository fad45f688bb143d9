// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <mpi.h>

#include "laple/laple.h"

namespace laple::test {

/// The algorithm of the last collective on `comm`.
inline std::string used(MPI_Comm comm) {
    char name[LAPLE_MAX_ALGORITHM_NAME];
    laple_algorithm_used(comm, name);
    return name;
}

/// Whether LaPle did it.
inline bool is_ours(MPI_Comm comm) {
    return used(comm) != "native" && used(comm) != "none";
}

/// Makes an empty broadcast, which is MPI's own: what the next call on `comm` used is not mistaken for what
/// an earlier one did. Collective; not for intercommunicators.
inline void forget_path(MPI_Comm comm) {
    MPI_Bcast(nullptr, 0, MPI_BYTE, 0, comm);
}

}  // namespace laple::test
