// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/host_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/index.hpp"

namespace laple::mpi {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kUsualPool = 1u << 19;
constexpr std::size_t kLeastPool = 1u << 16;
constexpr std::size_t kLargeBlocks = 8;       // of a pool without small ones
constexpr std::size_t kMostLarge = 1u << 16;  // stays in a second-level cache until it is read

std::size_t pages(std::size_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
}

/// Of a ring: more than a send window, fewer where there are many rings.
std::uint32_t cells_for(int ranks) {
    return ranks <= 16 ? 32 : ranks <= 64 ? 16 : 8;
}

std::size_t pairs(int ranks) {
    return at(ranks) * at(ranks);
}
std::size_t failures_bytes(int ranks) {
    return pages(pairs(ranks) * sizeof(std::atomic<std::uint64_t>));
}
std::size_t leavings_bytes(int ranks) {
    constexpr std::size_t kCacheLine = 64;
    return pages(at(ranks) * kCacheLine);
}
std::size_t rings_bytes(int ranks) {
    return pages(pairs(ranks) * cells_for(ranks) * sizeof(HostMemory::Cell));
}

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
                  std::atomic<std::uint64_t>::is_always_lock_free,
              "atomics in shared memory must not need a lock of one process");

}  // namespace

std::size_t HostMemory::bytes_for(int ranks, std::size_t most) {
    const std::size_t fixed = failures_bytes(ranks) + leavings_bytes(ranks) + rings_bytes(ranks);
    if (most < fixed) return 0;
    const std::size_t pool = std::min((most - fixed) / at(ranks) / kPage * kPage, kUsualPool);
    return pool < kLeastPool ? 0 : fixed + at(ranks) * pool;
}

HostMemory::HostMemory(std::unique_ptr<SharedSegment> segment, int ranks, int self)
    : segment_(std::move(segment)),
      ranks_(ranks),
      self_(self),
      cells_(cells_for(ranks)),
      rings_(failures_bytes(ranks) + leavings_bytes(ranks)),
      pools_(rings_ + rings_bytes(ranks)),
      next_to_(at(ranks), 0),
      next_from_(at(ranks), 0),
      incoming_(at(ranks)) {
    pool_bytes_ = (segment_->bytes() - pools_) / at(ranks);
    large_bytes_ =
        static_cast<std::uint32_t>(std::min(pool_bytes_ / kLargeBlocks / kPage * kPage, kMostLarge));
    // What small blocks and the counts of readers take.
    const std::size_t rest = pool_bytes_ / 4;
    if (large_bytes_ > kSmallBytes) small_count_ = static_cast<std::uint32_t>(rest / kSmallBytes / 2);
    large_count_ = static_cast<std::uint32_t>((pool_bytes_ - rest) / large_bytes_);
    // The memory is on the NUMA node of who touches it first: each rank's pool is near that rank.
    std::memset(segment_->data() + pools_ + at(self) * pool_bytes_, 0, pool_bytes_);
}

/// A pool: counts of readers, small blocks, large blocks.
std::atomic<std::uint32_t>& HostMemory::readers(int rank, std::uint32_t block) const {
    return reinterpret_cast<Readers*>(segment_->data() + pools_ + at(rank) * pool_bytes_)[block].left;
}

std::byte* HostMemory::data_of(int rank, std::uint32_t block) const {
    std::byte* const first =
        segment_->data() + pools_ + at(rank) * pool_bytes_ + pages(blocks() * sizeof(Readers));
    if (block < small_count_) return first + std::size_t{block} * kSmallBytes;
    return first + std::size_t{small_count_} * kSmallBytes + std::size_t{block - small_count_} * large_bytes_;
}

HostMemory::Cell& HostMemory::cell(int from, int to, std::uint32_t position) const {
    auto* const cells = reinterpret_cast<Cell*>(segment_->data() + rings_);
    return cells[(at(from) * at(ranks_) + at(to)) * cells_ + position];
}

std::atomic<std::uint64_t>& HostMemory::failure(int from, int to) const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(segment_->data())[at(from) * at(ranks_) + at(to)];
}

std::atomic<std::uint64_t>& HostMemory::leaving(int rank) const {
    return reinterpret_cast<Leaving*>(segment_->data() + failures_bytes(ranks_))[rank].call;
}

/// The first one that is free: it was used last, and may be in the cache.
std::optional<std::uint32_t> HostMemory::allocate(std::uint32_t bytes, std::uint32_t count) {
    const std::uint32_t first = is_small(bytes) ? 0 : small_count_;
    for (std::uint32_t block = first; block < first + count_blocks(bytes); ++block) {
        std::atomic<std::uint32_t>& left = readers(self_, block);
        if (left.load(std::memory_order_acquire) != 0) continue;
        left.store(count, std::memory_order_relaxed);
        return block;
    }
    return std::nullopt;
}

void HostMemory::release_own(std::uint32_t block, std::uint32_t count) {
    readers(self_, block).fetch_sub(count, std::memory_order_release);
}

HostMemory::Cell* HostMemory::free_cell(int to) {
    Cell& next = cell(self_, to, next_to_[at(to)]);
    return next.is_full.load(std::memory_order_acquire) == 0 ? &next : nullptr;
}

void HostMemory::post(int to) {
    std::uint32_t& position = next_to_[at(to)];
    cell(self_, to, position).is_full.store(1, std::memory_order_release);
    position = (position + 1) % cells_;
}

const HostMemory::Cell* HostMemory::oldest(int from) {
    const Cell& next = cell(from, self_, next_from_[at(from)]);
    return next.is_full.load(std::memory_order_acquire) != 0 ? &next : nullptr;
}

void HostMemory::drop_oldest(int from) {
    std::uint32_t& position = next_from_[at(from)];
    Cell& read = cell(from, self_, position);
    if (read.block != kNoBlock) readers(from, read.block).fetch_sub(1, std::memory_order_release);
    read.is_full.store(0, std::memory_order_release);
    position = (position + 1) % cells_;
}

HostMemory::Unexpected& HostMemory::add_unexpected(std::uint64_t bytes) {
    if (unused_.empty()) unused_.push_back(std::make_unique<Unexpected>());
    unexpected_.push_back(std::move(unused_.back()));
    unused_.pop_back();
    Unexpected& unexpected = *unexpected_.back();
    unexpected.total = bytes;
    unexpected.data.resize(bytes);
    return unexpected;
}

void HostMemory::drop_unexpected(const Unexpected& unexpected) {
    constexpr std::size_t kMostUnused = 16;
    constexpr std::size_t kLong = 1U << 20;  // its memory is given back
    const auto found = std::find_if(unexpected_.begin(), unexpected_.end(),
                                    [&](const auto& kept) { return kept.get() == &unexpected; });
    if (found == unexpected_.end()) return;
    const bool is_kept = unused_.size() < kMostUnused && unexpected.data.capacity() < kLong;
    if (is_kept) unused_.push_back(std::move(*found));
    unexpected_.erase(found);
}

void HostMemory::fail(int to, std::uint64_t call) {
    failure(self_, to).store(call, std::memory_order_release);
}

bool HostMemory::has_failed(int from, std::uint64_t call) const {
    return failure(from, self_).load(std::memory_order_acquire) >= call;
}

void HostMemory::leave(std::uint64_t call) {
    leaving(self_).store(call, std::memory_order_seq_cst);
    for (int from = 0; from < ranks_; ++from) {
        const Cell* cell = oldest(from);
        for (; cell != nullptr && cell->call <= call; cell = oldest(from)) drop_oldest(from);
        Incoming& incoming = incoming_[at(from)];
        if (incoming.kept != nullptr && incoming.kept->call <= call) incoming = {};
    }
    for (std::size_t i = unexpected_.size(); i-- > 0;) {
        if (unexpected_[i]->call <= call) drop_unexpected(*unexpected_[i]);
    }
}

bool HostMemory::has_left(int rank, std::uint64_t call) const {
    return leaving(rank).load(std::memory_order_seq_cst) >= call;
}

}  // namespace laple::mpi
