// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace laple::mpi {

/// How much memory this process may take for messages inside its host: LAPLE_SHARED_MEMORY, shared out among
/// the ranks of the host. For all threads.
class HostAllowance {
  public:
    /// What one communicator has taken, until this ends. The allowance must outlive it.
    class Share {
      public:
        Share() = default;
        Share(HostAllowance& allowance, std::size_t bytes)
            : allowance_(&allowance), bytes_(static_cast<std::int64_t>(bytes)) {
            allowance.left_ -= bytes_;
        }
        ~Share() { give_back(); }
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;
        Share& operator=(Share&& other) noexcept {
            give_back();
            allowance_ = std::exchange(other.allowance_, nullptr);
            bytes_ = std::exchange(other.bytes_, 0);
            return *this;
        }
        void give_back() {
            if (allowance_ != nullptr) allowance_->left_ += bytes_;
            allowance_ = nullptr;
        }

      private:
        HostAllowance* allowance_ = nullptr;
        std::int64_t bytes_ = 0;
    };

    explicit HostAllowance(std::size_t bytes)
        : left_(static_cast<std::int64_t>(std::min<std::size_t>(bytes, INT64_MAX))) {}

    /// 0 also where threads have taken more at the same time.
    std::size_t left() const { return static_cast<std::size_t>(std::max<std::int64_t>(left_, 0)); }

  private:
    std::atomic<std::int64_t> left_;
};

}  // namespace laple::mpi
