// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <mpi.h>

#include "collectives/collective.hpp"
#include "mpi/executor.hpp"

/// LAPLE_VERIFY: what LaPle has done is done again by MPI alone, and compared. Where they differ that is said
/// on stderr, by each rank that sees it, the first few times. Where it is certain that a result is wrong, all
/// ranks take MPI's. Types with padding (may_be_padded) are done again, but not compared; those with negative
/// extents, which MPICH 4.0.2 cannot reduce, and those that span very much memory are left alone.
namespace laple::mpi {

/// A user's message.
struct Message {
    void* buffer = nullptr;
    int count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// What this process has compared so far, and how often the results were not the same.
struct VerificationCount {
    int compared = 0;
    int different = 0;
};
VerificationCount verified_so_far();

/// Compares what this rank has got with what MPI_Bcast on LaPle's own communicator brings, in the order of
/// the signature. Collective; returns MPI's error code.
int verify_bcast(const std::string& algorithm, const Message& message, int root, MPI_Comm shadow);

/// A reduction that is verified: made before LaPle's, which may overwrite its own input.
class VerifiedReduction {
  public:
    /// Collective on `shadow`, LaPle's own communicator.
    VerifiedReduction(const Operands& operands, int count, int root, MPI_Comm shadow);

    /// Compares the result with that of MPI_Reduce or MPI_Allreduce. Collective; returns MPI's error code.
    ///
    /// Sums and products of floating-point numbers may differ by what another order rounds: n ε Σ|x| for n
    /// ranks, and some more for safety; or because one order overflows (or a product vanishes) where another
    /// does not. Of 0 and -0 either may be the larger one. A user's operation must give the same bits, or it
    /// is said that rounding may be why, and LaPle's result stays.
    int compare(Collective collective, const std::string& algorithm);

  private:
    int call_native(Collective collective, std::byte* result) const;
    int take_magnitudes(Collective collective);
    bool may_differ(double ours, double theirs, double magnitude) const;
    bool is_rounding(const std::vector<std::byte>& ours, const std::vector<std::byte>& theirs) const;

    const Operands& operands_;
    int count_;
    int root_;
    MPI_Comm shadow_;
    bool is_possible_ = false;
    std::vector<std::byte> memory_;   // of the input, as it was
    std::ptrdiff_t low_ = 0;          // from there to the first byte
    std::byte* input_ = nullptr;      // where MPI wants it
    std::vector<double> magnitudes_;  // of each number in the result: what it would be if no sign cancelled
};

}  // namespace laple::mpi
