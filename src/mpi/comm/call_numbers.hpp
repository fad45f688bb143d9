// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace laple::mpi {

/// The calls that were started on one communicator, in their order, which is the same on all ranks. For all
/// threads.
class CallNumbers {
  public:
    /// That of the next call, from 0.
    std::uint64_t add() {
        const std::lock_guard lock(mutex_);
        is_complete_.push_back(false);
        return oldest_ + is_complete_.size() - 1;
    }
    void complete(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        is_complete_[static_cast<std::size_t>(number - oldest_)] = true;
        while (!is_complete_.empty() && is_complete_.front()) {
            is_complete_.pop_front();
            ++oldest_;
        }
    }
    /// The first one that is not complete.
    std::uint64_t oldest() const {
        const std::lock_guard lock(mutex_);
        return oldest_;
    }

  private:
    mutable std::mutex mutex_;
    std::uint64_t oldest_ = 0;
    std::deque<bool> is_complete_;  // of the oldest and those after it
};

}  // namespace laple::mpi
