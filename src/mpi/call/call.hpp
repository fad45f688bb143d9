// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "collectives/collective/collective.hpp"

namespace laple::mpi {

/// A call of MPI's own with the user's arguments bound.
class NativeCall {
  public:
    virtual int operator()() const = 0;

  protected:
    ~NativeCall() = default;
};

template <typename Function>
class BoundCall final : public NativeCall {
  public:
    explicit BoundCall(Function function) : function_(function) {}
    int operator()() const override { return function_(); }

  private:
    Function function_;
};

/// One end of a call's data, as the user gave it.
struct UserBuffer {
    void* data = nullptr;  ///< may be MPI_IN_PLACE or MPI_BOTTOM; of an input only read
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// A collective call as the user made it.
struct Call {
    Collective collective{};
    const NativeCall& native;  ///< the same, by MPI alone
    MPI_Comm comm = MPI_COMM_NULL;
    /// Of the message, or where there are several of one block. In rooted collectives one of the two may mean
    /// nothing on this rank, and hold anything.
    UserBuffer input = {};   ///< none where the result is the message (bcast)
    UserBuffer result = {};  ///< none in a barrier
    MPI_Op op = MPI_OP_NULL;
    int root = 0;  ///< of rooted collectives
};

}  // namespace laple::mpi
