// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <mpi.h>

#include "mpi/call/arguments.hpp"

namespace laple::mpi {

/// LAPLE_VERIFY: a call that LaPle has done is done again by MPI alone, and the results are compared. Where
/// they differ that is said on stderr, by each rank that sees it, the first few times. Where it is certain
/// that a result is wrong, all ranks take MPI's. Types with padding (may_be_padded) are done again, but not
/// compared; those with negative extents, which MPICH 4.0.2 cannot reduce, and those that span very much
/// memory are left alone.
class Verification {
  public:
    virtual ~Verification() = default;

    /// To be called after a run without an error on any rank, or with one where blocks differ. Collective;
    /// returns MPI's error code.
    virtual int compare(const std::string& algorithm) = 0;
};

/// To be made before LaPle's own run, which may overwrite its input. The references must outlive it.
/// Collective on `inner`, LaPle's own communicator.
std::unique_ptr<Verification> verification_of(const Call& call, const Arguments& arguments, MPI_Comm inner);

}  // namespace laple::mpi
