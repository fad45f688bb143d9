// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace laple::mpi {

/// A request of MPI's own that stands for a call of LaPle's: the receive of an empty message from this rank
/// to itself, which is sent when the call is complete. So each of MPI's functions takes it (Wait*, Test*,
/// Request_get_status, Start, Request_free), beside others, in every language.
///
/// MPI's generalized requests cannot be persistent, and in MPICH 4.0 MPI_Waitall does not poll them.
///
/// For all threads.
class OwnRequest {
  public:
    /// Makes what all of them share, a communicator of this rank alone, at the first call: from `comm`, whose
    /// errors are returned meanwhile. Where no context id is left for it here, there is none for a copy of
    /// `comm` either. To be called before any OwnRequest is made.
    static void begin(MPI_Comm comm);

    OwnRequest();
    ~OwnRequest();
    OwnRequest(const OwnRequest&) = delete;
    OwnRequest& operator=(const OwnRequest&) = delete;

    /// Its receive, begun. Returns MPI's error code.
    int start(MPI_Request& request) const;
    /// Its receive, persistent and not begun yet; MPI_Start begins it. Returns MPI's error code.
    int init(MPI_Request& request) const;

    /// To be called once for each time that it was begun. With an error code, completing it returns an error,
    /// MPI_ERR_TRUNCATE; error handlers are the caller's business.
    void complete(int code) const;

    /// Frees what all of them share, while MPI is still there.
    static void end();

  private:
    int tag_;  // no other one has it
};

}  // namespace laple::mpi
