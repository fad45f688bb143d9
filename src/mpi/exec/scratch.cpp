// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/scratch.hpp"

#include <algorithm>
#include <utility>

namespace laple::mpi {
namespace {

constexpr std::size_t kKeptOfOne = std::size_t{64} << 20;
constexpr std::size_t kKeptOfAll = 2 * kKeptOfOne;
constexpr std::size_t kKeptSteps = std::size_t{1} << 20;
constexpr std::size_t kAlignment = 64;

}  // namespace

std::byte* Scratch::get(std::size_t bytes) {
    if (bytes > capacity_) {
        memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes + kAlignment);
        capacity_ = bytes;
    }
    void* start = memory_.get();
    std::size_t space = capacity_ + kAlignment;
    return start == nullptr ? nullptr : static_cast<std::byte*>(std::align(kAlignment, bytes, start, space));
}

void Scratch::trim(std::size_t most) {
    if (lists_.waits.capacity() > kKeptSteps) lists_ = {};
    if (capacity_ <= most) return;
    memory_.reset();
    capacity_ = 0;
}

// Never destroyed: a program may call collectives from destructors of its own, after main.
ScratchPool& ScratchPool::of_runs() {
    static ScratchPool& pool = *new ScratchPool;
    return pool;
}

ScratchPool& ScratchPool::of_packing() {
    static ScratchPool& pool = *new ScratchPool;
    return pool;
}

/// The one that was used last.
std::unique_ptr<Scratch> ScratchPool::take() {
    {
        const std::lock_guard lock(mutex_);
        if (!unused_.empty()) {
            std::unique_ptr<Scratch> scratch = std::move(unused_.back());
            unused_.pop_back();
            kept_ -= scratch->capacity();
            return scratch;
        }
        unused_.reserve(count_ + 1);  // so that give_back() cannot fail
        ++count_;
    }
    return std::make_unique<Scratch>();
}

/// Of many that were used at a time, only so many keep memory as are not much together.
void ScratchPool::give_back(std::unique_ptr<Scratch> scratch) noexcept {
    scratch->trim(kKeptOfOne);
    const std::lock_guard lock(mutex_);
    if (kept_ + scratch->capacity() > kKeptOfAll) scratch->trim(0);
    kept_ += scratch->capacity();
    // Those without memory are taken last.
    unused_.insert(scratch->capacity() > 0 ? unused_.end() : unused_.begin(), std::move(scratch));
}

}  // namespace laple::mpi
