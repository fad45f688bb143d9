// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/user_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "mpi/exec/communicator.hpp"

namespace laple::mpi {
namespace {

/// MPI's own call says what is wrong with them. nullptr is MPI_BOTTOM, good for types that hold addresses.
bool is_bad(const UserBlock& block, const void* base) {
    const UserBuffer& buffer = block.buffer;
    if (buffer.count < 0) return true;
    if (buffer.count == 0) return false;
    const bool is_nowhere = base == nullptr && buffer.data == nullptr && block.layout.true_lb == 0;
    return base == MPI_IN_PLACE || (is_nowhere && block.layout.size > 0);
}

/// MPI_Pack and MPI_Unpack count in int: so many elements at a time as they can, or a single one.
template <typename Use>
int in_parts(const UserBlock& block, std::byte* packed, Use use) {
    constexpr MPI_Count kMost = std::numeric_limits<int>::max() / 2;
    const MPI_Count part = std::max<MPI_Count>(kMost / std::max<MPI_Count>(block.layout.size, 1), 1);
    for (MPI_Count begin = 0; begin < block.buffer.count; begin += part) {
        const auto count = static_cast<int>(std::min(part, block.buffer.count - begin));
        auto* const data = moved(static_cast<std::byte*>(block.buffer.data),
                                 static_cast<std::ptrdiff_t>(begin * block.layout.extent));
        const int code =
            use(data, count, packed + begin * block.layout.size, MPI_Count{count} * block.layout.size);
        if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
}

/// Whether they are plain bytes, one after the other.
bool are_in_order(const std::vector<UserBlock>& blocks) {
    const std::byte* end = nullptr;
    for (const UserBlock& block : blocks) {
        if (block.bytes() == 0) continue;
        const auto* const data = static_cast<const std::byte*>(block.buffer.data);
        if (!block.layout.is_contiguous || (end != nullptr && data != end)) return false;
        end = data + block.bytes();
    }
    return true;
}

}  // namespace

std::optional<std::vector<UserBlock>> block_of(const UserBuffer& buffer) {
    if (buffer.type == MPI_DATATYPE_NULL) return std::nullopt;
    UserBlock block{buffer, layout_of(buffer.type)};
    if (is_bad(block, buffer.data)) return std::nullopt;
    return std::vector{block};
}

std::optional<std::vector<UserBlock>> blocks_of(const UserBuffer& buffer, const UserBlocks& blocks,
                                                int size) {
    if (blocks.counts.is_null()) return std::nullopt;
    const bool have_types = blocks.types != nullptr;
    std::vector<UserBlock> found(static_cast<std::size_t>(size));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    TypeLayout layout;
    for (int rank = 0; rank < size; ++rank) {
        UserBlock& block = found[static_cast<std::size_t>(rank)];
        if (blocks.counts[rank] == 0) continue;
        const MPI_Datatype its_type = have_types ? blocks.types[rank] : buffer.type;
        if (its_type == MPI_DATATYPE_NULL || blocks.displacements.is_null()) return std::nullopt;
        if (its_type != type) layout = layout_of(type = its_type);
        const MPI_Count step = have_types ? 1 : layout.extent;
        block.buffer = {moved(static_cast<std::byte*>(buffer.data),
                              static_cast<std::ptrdiff_t>(blocks.displacements[rank] * step)),
                        blocks.counts[rank], type};
        block.layout = layout;
        if (is_bad(block, buffer.data)) return std::nullopt;
    }
    return found;
}

PackedBlocks::PackedBlocks(const std::vector<UserBlock>& blocks, MPI_Comm comm, bool holds_data,
                           Arrangement arrangement)
    : blocks_(blocks), comm_(comm) {
    const bool are_copied =
        arrangement == Arrangement::copied || (arrangement == Arrangement::in_order && !are_in_order(blocks));
    const auto is_packed = [&](const UserBlock& block) { return are_copied || !block.layout.is_contiguous; };
    std::size_t bytes = 0;
    for (const UserBlock& block : blocks)
        bytes += is_packed(block) ? static_cast<std::size_t>(block.bytes()) : 0;
    std::byte* next = nullptr;
    if (bytes > 0) next = (*scratch_.emplace(ScratchPool::of_packing())).get(bytes);
    for (const UserBlock& block : blocks) {
        const auto size = static_cast<std::size_t>(block.bytes());
        if (!is_packed(block)) {
            memory_.push_back({static_cast<std::byte*>(block.buffer.data), size});
            continue;
        }
        memory_.push_back({next, size});
        next += size;
        if (!holds_data || size == 0) continue;
        const int code = in_parts(block, memory_.back().data,
                                  [&](std::byte* data, int count, std::byte* packed, MPI_Count part) {
                                      return pack(data, count, block.buffer.type, packed, part, comm_);
                                  });
        if (code_ == MPI_SUCCESS) code_ = code;
    }
}

std::byte* PackedBlocks::as_one() const {
    for (const BlockMemory& block : memory_) {
        if (block.bytes > 0) return block.data;
    }
    return nullptr;
}

int PackedBlocks::unpack() const {
    int first = MPI_SUCCESS;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const UserBlock& block = blocks_[i];
        if (memory_[i].bytes == 0 || memory_[i].data == block.buffer.data) continue;
        const int code = in_parts(
            block, memory_[i].data, [&](std::byte* data, int count, std::byte* packed, MPI_Count part) {
                return laple::mpi::unpack(packed, part, data, count, block.buffer.type, comm_);
            });
        if (first == MPI_SUCCESS) first = code;
    }
    return first;
}

}  // namespace laple::mpi
