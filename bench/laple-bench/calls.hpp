// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "bench/laple-bench/benchmark.hpp"
#include "bench/laple-bench/block_sizes.hpp"
#include "mpi/exec/native_call.hpp"

namespace laple::bench {

/// Whose implementation is called: MPI's own by its PMPI_ name, or whatever stands behind the MPI_ name,
/// which is LaPle when it is loaded.
enum class Library { stock, laple };

/// What one rank has for each other, or gets from it, one after the other: in bytes.
struct Blocks {
    std::vector<int> counts;
    std::vector<int> displacements;
    Bytes bytes = 0;  ///< of all
};

/// The arguments of one call.
struct Call {
    Benchmark benchmark;
    Bytes bytes = 0;               ///< of the message, or of each block (on average); at most INT_MAX
    Rank root = 0;                 ///< of rooted collectives
    const void* send = nullptr;    ///< what the rank contributes; may be MPI_IN_PLACE. Unused by bcast
    void* receive = nullptr;       ///< of bcast: the message
    const Blocks* sent = nullptr;  ///< where there is a count for each rank, as the next
    const Blocks* received = nullptr;
};

/// Whether a reduction of so many bytes adds doubles; the others are the exclusive or of bytes.
inline bool adds_doubles(Bytes bytes) {
    return bytes % sizeof(double) == 0;
}

/// What is the same in all calls that measure one benchmark with blocks of one size, as one rank makes them.
class CallShape {
  public:
    /// Throws Error where blocks of different sizes have more bytes together than an int can say.
    CallShape(Benchmark benchmark, Spread spread, Bytes bytes, Rank root, Rank rank, int ranks);

    /// What the rank gives at most, in a buffer of its own.
    Bytes input_bytes() const { return input_bytes_; }
    /// What it gets at most.
    Bytes result_bytes() const { return result_bytes_; }
    /// With these buffers; this must outlive it.
    Call call(const void* send, void* receive) const;

  private:
    Benchmark benchmark_;
    Bytes bytes_;
    Rank root_;
    Blocks sent_;
    Blocks received_;
    Bytes input_bytes_ = 0;
    Bytes result_bytes_ = 0;
};

/// Those of a function of one count.
mpi::NativeArguments arguments_of(const Call& call, MPI_Comm comm);

/// Makes the call. MPI's error handler on `comm` sees to errors.
void run(Library library, const Call& call, MPI_Comm comm);

}  // namespace laple::bench
