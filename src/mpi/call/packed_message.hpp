// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "mpi/call/call.hpp"
#include "mpi/exec/datatype.hpp"
#include "mpi/exec/scratch.hpp"

namespace laple::mpi {

/// A user's message as contiguous bytes: in place where it already is contiguous, else packed into LaPle's
/// memory.
class PackedMessage {
  public:
    /// `holds_data`: it is packed now. `gets_data`: unpack() will be called. `comm`: LaPle's own.
    PackedMessage(const UserBuffer& buffer, const TypeLayout& layout, MPI_Comm comm, bool holds_data,
                  bool gets_data);

    std::byte* data() const { return data_; }
    /// Of packing.
    int code() const { return code_; }
    /// To be called when the data are there; returns MPI's error code.
    int unpack() const;

  private:
    UserBuffer buffer_;
    int count_;
    int bytes_;
    MPI_Comm comm_;
    bool is_packed_;
    bool must_unpack_;
    std::optional<ScratchPool::Lease> scratch_;
    std::byte* data_ = nullptr;
    int code_ = MPI_SUCCESS;
};

}  // namespace laple::mpi
