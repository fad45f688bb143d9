// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

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

/// Numbers that the user gives for each rank, in one of the types that MPI has for them.
class PerRank {
  public:
    PerRank() = default;
    explicit PerRank(const int* numbers) : numbers_(numbers), number_at_(at<int>) {}
    template <typename Number>
    explicit PerRank(const Number* numbers) : numbers_(numbers), number_at_(at<Number>) {}

    /// nullptr was given, or nothing.
    bool is_null() const { return numbers_ == nullptr; }
    MPI_Count operator[](int rank) const { return number_at_(numbers_, rank); }

  private:
    template <typename Number>
    static MPI_Count at(const void* numbers, int rank) {
        return static_cast<MPI_Count>(static_cast<const Number*>(numbers)[rank]);
    }

    const void* numbers_ = nullptr;
    MPI_Count (*number_at_)(const void* numbers, int rank) = nullptr;
};

/// Blocks at one end of a call, as the user gave them: one for each rank, in the memory of a UserBuffer.
struct UserBlocks {
    PerRank counts = {};
    PerRank displacements = {};           ///< in extents of the type; in bytes where blocks have `types`
    const MPI_Datatype* types = nullptr;  ///< of each block; nullptr: the buffer's, for all
};

/// A collective call as the user made it.
struct Call {
    Collective collective{};
    std::string_view function;  ///< MPI's name of it, without "MPI_": lasts for ever
    const NativeCall& native;   ///< the same, by MPI alone
    MPI_Comm comm = MPI_COMM_NULL;
    /// Of the message, or where there are several of one block. In rooted collectives one of the two may mean
    /// nothing on this rank, and hold anything.
    UserBuffer input = {};   ///< none where the result is the message (bcast)
    UserBuffer result = {};  ///< none in a barrier
    MPI_Op op = MPI_OP_NULL;
    int root = 0;  ///< of rooted collectives
    /// Where blocks differ, those of the rank that has several, and of the other end if it has, too. Counts
    /// of its buffers mean nothing then.
    UserBlocks input_blocks = {};
    UserBlocks result_blocks = {};
    bool has_blocks = false;  ///< MPI_Allgatherv, MPI_Alltoallv, ...: with counts for each rank
};

}  // namespace laple::mpi
