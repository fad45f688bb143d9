// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "mpi/call/call.hpp"
#include "mpi/exec/block_exchange.hpp"
#include "mpi/exec/datatype.hpp"
#include "mpi/exec/scratch.hpp"

namespace laple::mpi {

/// One of several blocks, where the user has it.
struct UserBlock {
    UserBuffer buffer{nullptr, 0, MPI_BYTE};  ///< of its own
    TypeLayout layout{1, 1, 0, 1, true};      ///< of an element

    MPI_Count bytes() const { return buffer.count * layout.size; }
};

/// The block that a whole buffer is; nothing where MPI would refuse it.
std::optional<std::vector<UserBlock>> block_of(const UserBuffer& buffer);
/// Those of `size` ranks in a buffer; nothing where MPI would refuse one. Of blocks without elements, as
/// MPICH has it, only the count means something: programs give no type, and no displacements, for them.
std::optional<std::vector<UserBlock>> blocks_of(const UserBuffer& buffer, const UserBlocks& blocks, int size);

/// Where blocks are to be.
enum class Arrangement {
    any,       ///< each by itself
    in_order,  ///< one after the other
    copied,    ///< not where the user has them
};

/// Blocks as contiguous bytes each: in place where they already are as they should be, else packed into
/// LaPle's memory.
class PackedBlocks {
  public:
    /// `holds_data`: blocks are packed now. `comm`: LaPle's own. The reference must outlive this.
    PackedBlocks(const std::vector<UserBlock>& blocks, MPI_Comm comm, bool holds_data,
                 Arrangement arrangement);

    const std::vector<BlockMemory>& memory() const { return memory_; }
    /// All of them, which follow each other in memory.
    std::byte* as_one() const;
    /// Of packing.
    int code() const { return code_; }
    /// Puts what the memory holds into the user's blocks. Returns MPI's error code.
    int unpack() const;

  private:
    const std::vector<UserBlock>& blocks_;
    MPI_Comm comm_;
    std::optional<ScratchPool::Lease> scratch_;
    std::vector<BlockMemory> memory_;
    int code_ = MPI_SUCCESS;
};

}  // namespace laple::mpi
