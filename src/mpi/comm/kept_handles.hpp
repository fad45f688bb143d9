// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <mpi.h>

namespace laple::mpi {

/// Keeps datatypes and operations while calls under way use them: the program may free them as soon as it has
/// started a call. Predefined ones need no keeping, and are left out by the caller. For all threads.
class KeptHandles {
  public:
    KeptHandles(std::vector<MPI_Datatype> types, std::vector<MPI_Op> ops);
    ~KeptHandles();
    KeptHandles(const KeptHandles&) = delete;
    KeptHandles& operator=(const KeptHandles&) = delete;

    /// The program frees a handle: true where it is in use, and will be freed when it no longer is.
    static bool free_later(MPI_Datatype type);
    static bool free_later_op(MPI_Op op);

  private:
    std::vector<MPI_Datatype> types_;
    std::vector<MPI_Op> ops_;
};

}  // namespace laple::mpi
