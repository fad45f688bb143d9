// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <mpi.h>

namespace laple::mpi {

/// Keeps datatypes and operations while calls under way use them: the program, or MPI's Fortran binding, may
/// free them as soon as it has started a call. Predefined ones need no keeping, and are left out by the
/// caller. For all threads.
///
/// A type is kept by another one that is made of it: MPICH keeps what a type is made of, whoever frees it and
/// by whatever name. Nothing is made of operations: those are freed when they are no longer in use.
class KeptHandles {
  public:
    KeptHandles(const std::vector<MPI_Datatype>& types, std::vector<MPI_Op> ops);
    ~KeptHandles();
    KeptHandles(const KeptHandles&) = delete;
    KeptHandles& operator=(const KeptHandles&) = delete;

    /// The program frees an operation: true where it is in use, and will be freed when it no longer is.
    static bool free_later(MPI_Op op);

  private:
    std::vector<MPI_Datatype> holders_;
    std::vector<MPI_Op> ops_;
};

}  // namespace laple::mpi
