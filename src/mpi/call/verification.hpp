// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "mpi/call/arguments.hpp"

/// LAPLE_VERIFY: what LaPle has done is done again by MPI alone, and compared. Where they differ that is said
/// on stderr, by each rank that sees it, the first few times. Where it is certain that a result is wrong, all
/// ranks take MPI's. Types with padding (may_be_padded) are done again, but not compared; those with negative
/// extents, which MPICH 4.0.2 cannot reduce, and those that span very much memory are left alone.
namespace laple::mpi {

/// What is combined and verified: made before LaPle's own run, which may overwrite its input.
class VerifiedReduction {
  public:
    /// Collective on `inner`, LaPle's own communicator.
    VerifiedReduction(const Call& call, const Operands& operands, MPI_Comm inner);

    /// Compares the result with that of MPI's own call. Collective; returns MPI's error code.
    ///
    /// Sums and products of floating-point numbers may differ by what another order rounds: n ε Σ|x| for n
    /// ranks, and some more for safety; or because one order overflows (or a product vanishes) where another
    /// does not. Of 0 and -0 either may be the larger one. A user's operation must give the same bits, or it
    /// is said that rounding may be why, and LaPle's result stays.
    int compare(const std::string& algorithm);

  private:
    int call_again(std::byte* result) const;
    int take_magnitudes();
    bool may_differ(double ours, double theirs, double magnitude) const;
    bool is_rounding(const std::vector<std::byte>& ours, const std::vector<std::byte>& theirs) const;

    const Operands& operands_;
    Collective collective_;
    int count_;
    int root_;
    MPI_Comm inner_;
    bool is_possible_ = false;
    std::vector<std::byte> memory_;   // of the input, as it was
    std::ptrdiff_t low_ = 0;          // from there to the first byte
    std::byte* input_ = nullptr;      // where MPI wants it
    std::vector<double> magnitudes_;  // of each number in the result: what it would be if no sign cancelled
};

/// What is only moved and verified: made before LaPle's own run, which may overwrite its input.
class VerifiedMove {
  public:
    VerifiedMove(const Arguments& arguments, MPI_Comm inner);

    /// Compares what this rank has got with what MPI's own call on `inner` brings, as bytes in the order of
    /// the signature. Collective; returns MPI's error code.
    int compare(const std::string& algorithm) const;

  private:
    const Arguments& arguments_;
    MPI_Comm inner_;
    std::vector<std::byte> input_;  // as it was
    int code_ = MPI_SUCCESS;        // of copying it
};

/// A call that is verified.
class Verification {
  public:
    /// Made before LaPle's own run. The references must outlive this. Collective on `inner`, LaPle's own
    /// communicator.
    Verification(const Call& call, const Arguments& arguments, MPI_Comm inner);

    /// To be called after a run without an error. Collective; returns MPI's error code.
    int compare(const std::string& algorithm);

  private:
    std::optional<VerifiedMove> move_;
    std::optional<VerifiedReduction> reduction_;
};

}  // namespace laple::mpi
