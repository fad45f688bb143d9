// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/units.hpp"
#include "bench/laple-bench/collective.hpp"

namespace laple::bench {

/// Whose implementation is called: MPI's own by its PMPI_ name, or whatever stands behind the MPI_ name,
/// which is LaPle when it is loaded.
enum class Library { stock, laple };

/// The arguments of one call.
struct Call {
    Collective collective = Collective::barrier;
    Bytes bytes = 0;             ///< of the message; at most INT_MAX
    Rank root = 0;               ///< of bcast and reduce
    const void* send = nullptr;  ///< of reduce and allreduce; may be MPI_IN_PLACE
    void* receive = nullptr;     ///< of bcast: the buffer
};

/// Whether a reduction of so many bytes adds doubles; the others are the exclusive or of bytes.
inline bool adds_doubles(Bytes bytes) {
    return bytes % sizeof(double) == 0;
}

/// Makes the call. MPI's error handler on `comm` sees to errors.
void run(Library library, const Call& call, MPI_Comm comm);

}  // namespace laple::bench
