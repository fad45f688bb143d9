// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <mpi.h>

#include "bench/laple-bench/calls.hpp"

namespace laple::bench {

/// A call that is started and completed later, with the functions of one count: MPI_Iallreduce, or
/// MPI_Allreduce_init once and MPI_Start each time. MPI's error handler on the communicator sees to errors.
class StartedCall {
  public:
    /// Persistent requests are made here. Collective over `comm`. `call` must be of one count.
    StartedCall(const Call& call, MPI_Comm comm, bool is_persistent);
    ~StartedCall();
    StartedCall(const StartedCall&) = delete;
    StartedCall& operator=(const StartedCall&) = delete;

    void start(Library library);
    /// Whether it is complete.
    bool test();
    void wait();

  private:
    const Call& call_;
    MPI_Comm comm_;
    bool is_persistent_;
    std::array<MPI_Request, 2> persistent_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};  // by library
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace laple::bench
