// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/packed_message.hpp"

namespace laple::mpi {

PackedMessage::PackedMessage(const UserBuffer& buffer, const TypeLayout& layout, MPI_Comm comm,
                             bool holds_data, bool gets_data)
    : buffer_(buffer),
      count_(static_cast<int>(buffer.count)),
      bytes_(static_cast<int>(layout.size * buffer.count)),
      comm_(comm),
      is_packed_(!layout.is_contiguous),
      must_unpack_(is_packed_ && gets_data) {
    if (!is_packed_) {
        data_ = static_cast<std::byte*>(buffer.data);
        return;
    }
    scratch_.emplace(ScratchPool::of_packing());
    data_ = (**scratch_).get(static_cast<std::size_t>(bytes_));
    if (!holds_data) return;
    int position = 0;
    code_ = buffer.data == MPI_BOTTOM
                ? move(buffer.data, count_, buffer.type, data_, bytes_, MPI_PACKED)
                : PMPI_Pack(buffer.data, count_, buffer.type, data_, bytes_, &position, comm_);
}

int PackedMessage::unpack() const {
    if (!must_unpack_) return MPI_SUCCESS;
    int position = 0;
    return buffer_.data == MPI_BOTTOM
               ? move(data_, bytes_, MPI_PACKED, buffer_.data, count_, buffer_.type)
               : PMPI_Unpack(data_, bytes_, &position, buffer_.data, count_, buffer_.type, comm_);
}

int PackedMessage::move(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                        MPI_Datatype to_type) const {
    constexpr int kPackTag = 3;
    int self = 0;
    PMPI_Comm_rank(comm_, &self);
    return PMPI_Sendrecv(from, from_count, from_type, self, kPackTag, to, to_count, to_type, self, kPackTag,
                         comm_, MPI_STATUS_IGNORE);
}

}  // namespace laple::mpi
