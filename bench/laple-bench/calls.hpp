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
    Bytes bytes = 0;             ///< of the message, or of each block; at most INT_MAX
    Rank root = 0;               ///< of rooted collectives
    const void* send = nullptr;  ///< what the rank contributes; may be MPI_IN_PLACE. Unused by bcast
    void* receive = nullptr;     ///< of result_bytes(); of bcast: the message
};

/// Whether a reduction of so many bytes adds doubles; the others are the exclusive or of bytes.
inline bool adds_doubles(Bytes bytes) {
    return bytes % sizeof(double) == 0;
}

/// What a rank of `size` gets where each message has so many bytes.
Bytes result_bytes(Collective collective, Bytes bytes, int size);

/// What a rank gives at most, in a buffer of its own.
Bytes input_bytes(Collective collective, Bytes bytes, int size);

/// Makes the call. MPI's error handler on `comm` sees to errors.
void run(Library library, const Call& call, MPI_Comm comm);

}  // namespace laple::bench
