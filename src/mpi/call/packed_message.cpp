// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/packed_message.hpp"

#include "mpi/exec/communicator.hpp"

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
    code_ = pack(buffer.data, count_, buffer.type, data_, bytes_, comm_);
}

int PackedMessage::unpack() const {
    if (!must_unpack_) return MPI_SUCCESS;
    return laple::mpi::unpack(data_, bytes_, buffer_.data, count_, buffer_.type, comm_);
}

}  // namespace laple::mpi
