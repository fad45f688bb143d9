// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

/// Between the intercepted symbols and the rest: decides whether LaPle treats a call. Every function returns
/// the MPI error code that the intercepted call shall return. `native` is that call as the user made it, with
/// PMPI: what LaPle cannot treat exactly, and every call with arguments that MPI would refuse, goes there, on
/// all ranks alike. No exception but what a user's error handler or operation throws leaves these functions.
namespace laple::mpi {

/// A call of MPI's own with the user's arguments bound.
class NativeCall {
  public:
    virtual int operator()() const = 0;

  protected:
    ~NativeCall() = default;
};

template <typename Call>
class BoundCall final : public NativeCall {
  public:
    explicit BoundCall(Call call) : call_(call) {}
    int operator()() const override { return call_(); }

  private:
    Call call_;
};

int bcast(const NativeCall& native, void* buffer, MPI_Count count, MPI_Datatype type, int root,
          MPI_Comm comm);
int reduce(const NativeCall& native, const void* input, void* result, MPI_Count count, MPI_Datatype type,
           MPI_Op op, int root, MPI_Comm comm);
int allreduce(const NativeCall& native, const void* input, void* result, MPI_Count count, MPI_Datatype type,
              MPI_Op op, MPI_Comm comm);
int barrier(const NativeCall& native, MPI_Comm comm);

/// MPI_Pcontrol was called: 0 leaves all calls to MPI, where LAPLE_PCONTROL asks for that, anything else
/// takes them back.
void switch_by(int level) noexcept;

/// Looks for "laple_algorithm" in what MPI_Comm_set_info or MPI_Comm_dup_with_info gave to `comm`. Collective
/// when it is there: then it must be there on all ranks; rank 0's value holds.
void heed_info(MPI_Comm comm, MPI_Info info) noexcept;

}  // namespace laple::mpi
