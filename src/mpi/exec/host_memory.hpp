// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpi/exec/shared_segment.hpp"

namespace laple::mpi {

/// What the ranks of one host, numbered 0, 1, ..., have in a shared segment to pass on messages:
///
///     failures    for each rank and each other: the last call that it has given up
///     leavings    of each rank: the last call from which it has returned
///     rings       for each rank and each other: cells, which one writes and the other reads, in order
///     pools       of each rank: blocks of data, which it writes and others read
///
/// A message is one cell or several. What is longer than kInline is in a block, which may be that of several
/// messages: data that go to many are copied in once. A block is free when all its readers have read it.
///
/// One thread of a process at a time.
class HostMemory {
  public:
    static constexpr std::uint32_t kInline = 32;

    struct alignas(64) Cell {
        std::atomic<std::uint32_t> is_full{0};
        std::uint32_t bytes = 0;    ///< in this cell
        std::uint64_t call = 0;     ///< number of the collective call
        std::uint64_t total = 0;    ///< bytes of the message
        std::uint16_t channel = 0;  ///< of the schedule
        bool is_first = false;      ///< of its message; the rest of the one before will not come
        std::uint32_t block = 0;    ///< of the sender's pool; kNoBlock: the data are here
        std::byte data[kInline] = {};
    };
    static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};

    /// Of a segment for so many ranks that takes at most `most` bytes; 0 where that is too little.
    static std::size_t bytes_for(int ranks, std::size_t most);

    /// `segment` has bytes_for() bytes, which were zeros when the first of `ranks` came.
    HostMemory(std::unique_ptr<SharedSegment> segment, int ranks, int self);

    std::size_t bytes() const { return segment_->bytes(); }
    int ranks() const { return ranks_; }
    int self() const { return self_; }

    /// The most that one cell carries.
    std::uint32_t fragment_bytes() const { return large_bytes_; }
    /// Blocks are of two sizes; whether the smaller one does.
    bool is_small(std::uint64_t bytes) const { return bytes <= kSmallBytes && small_count_ > 0; }
    /// How many there are for so many bytes.
    std::uint32_t count_blocks(std::uint64_t bytes) const {
        return is_small(bytes) ? small_count_ : large_count_;
    }

    /// A block of the own pool for so many readers; nothing while there is no room.
    std::optional<std::uint32_t> allocate(std::uint32_t bytes, std::uint32_t count);
    std::byte* block_data(std::uint32_t block) const { return data_of(self_, block); }
    /// So many of its readers will not come.
    void release_own(std::uint32_t block, std::uint32_t count);

    /// The next cell to `to`, to be filled and posted; nullptr while the ring is full.
    Cell* free_cell(int to);
    void post(int to);

    /// The oldest cell from `from`; nullptr where there is none.
    const Cell* oldest(int from);
    const std::byte* data(int from, const Cell& cell) const {
        return cell.block == kNoBlock ? cell.data : data_of(from, cell.block);
    }
    /// The oldest cell has been read.
    void drop_oldest(int from);

    /// Nothing more goes to `to` in that call, or in those before it.
    void fail(int to, std::uint64_t call);
    /// Whether that is so, once all that has come from `from` is read.
    bool has_failed(int from, std::uint64_t call) const;

    /// This rank reads nothing more of that call, or of those before it. What has come of them is dropped.
    void leave(std::uint64_t call);
    /// Whether a rank has left that call. What was sent to it at the same moment stays where it is, a cell
    /// from each sender at most, until its next call.
    bool has_left(int rank, std::uint64_t call) const;

    /// A message for which there was no receive when it came.
    struct Unexpected {
        int from = 0;
        std::uint64_t call = 0;
        std::uint16_t channel = 0;
        std::vector<std::byte> data;
        std::uint64_t total = 0;
    };
    /// A message that comes in, and whereto.
    struct Incoming {
        bool is_active = false;
        std::uint64_t received = 0;
        std::int64_t step = -1;      ///< of the receive that takes it; -1: none
        Unexpected* kept = nullptr;  ///< else here; nullptr: nowhere
    };
    Incoming& incoming(int from) { return incoming_[static_cast<std::size_t>(from)]; }

    const std::vector<std::unique_ptr<Unexpected>>& unexpected() const { return unexpected_; }
    /// A new one, for so many bytes, with memory that was used before where there is some.
    Unexpected& add_unexpected(std::uint64_t bytes);
    void drop_unexpected(const Unexpected& unexpected);

  private:
    /// Of a rank, on a cache line of its own.
    struct alignas(64) Leaving {
        std::atomic<std::uint64_t> call{0};
    };
    /// The same of a block.
    struct alignas(64) Readers {
        std::atomic<std::uint32_t> left{0};
    };
    static constexpr std::uint32_t kSmallBytes = 4096;

    std::uint32_t blocks() const { return small_count_ + large_count_; }
    std::atomic<std::uint32_t>& readers(int rank, std::uint32_t block) const;
    std::byte* data_of(int rank, std::uint32_t block) const;
    Cell& cell(int from, int to, std::uint32_t position) const;
    std::atomic<std::uint64_t>& failure(int from, int to) const;
    std::atomic<std::uint64_t>& leaving(int rank) const;

    std::unique_ptr<SharedSegment> segment_;
    int ranks_;
    int self_;
    std::uint32_t cells_ = 0;        // of a ring
    std::uint32_t small_count_ = 0;  // blocks of a pool, which come first, and of these the small ones
    std::uint32_t large_count_ = 0;
    std::uint32_t large_bytes_ = 0;
    std::size_t pool_bytes_ = 0;
    std::size_t rings_ = 0;  // where they begin
    std::size_t pools_ = 0;
    std::vector<std::uint32_t> next_to_;    // position in the ring to each rank
    std::vector<std::uint32_t> next_from_;  // and in that from it
    std::vector<Incoming> incoming_;
    std::vector<std::unique_ptr<Unexpected>> unexpected_;
    std::vector<std::unique_ptr<Unexpected>> unused_;
};

}  // namespace laple::mpi
