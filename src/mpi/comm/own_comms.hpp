// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "mpi/exec/operation.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

/// While this lives, errors on `comm` are returned: what LaPle fails at is not the user's error.
class ReturnErrors {
  public:
    explicit ReturnErrors(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_get_errhandler(comm_, &handler_);
        PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    ~ReturnErrors() {
        PMPI_Comm_set_errhandler(comm_, handler_);
        PMPI_Errhandler_free(&handler_);
    }
    ReturnErrors(const ReturnErrors&) = delete;
    ReturnErrors& operator=(const ReturnErrors&) = delete;

  private:
    MPI_Comm comm_;
    MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// The communicators of LaPle's own beside one of the user's, and the tags of its messages there.
class OwnComms {
  public:
    OwnComms() = default;
    ~OwnComms() { free(); }
    OwnComms(const OwnComms&) = delete;
    OwnComms& operator=(const OwnComms&) = delete;

    /// Makes the one with the ranks of `comm`. Collective; false where MPI has none left.
    bool create(MPI_Comm comm);
    /// MPI_COMM_NULL where it was not made.
    MPI_Comm inner() const { return ways_.comm; }
    /// Makes the one of this rank's cluster, at the first call. Collective; false where MPI has none left.
    bool join_cluster(const Machine& machine, int rank);

    /// Tags of its own for the next call.
    void change_tags();
    const Ways& ways() const { return ways_; }

    /// While MPI is still there.
    void free();

  private:
    Ways ways_;
    bool has_tried_to_join_ = false;
    int tag_sets_ = 1;  // as many calls have tags of their own
    int tag_set_ = 0;   // of the call that is under way
};

}  // namespace laple::mpi
