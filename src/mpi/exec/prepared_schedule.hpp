// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace laple::mpi {

/// A schedule with what an operation wants to know of it, worked out once per plan.
class PreparedSchedule {
  public:
    explicit PreparedSchedule(Schedule schedule);

    const Schedule& schedule() const { return schedule_; }
    /// For each step how many others must be complete (or, before it in its channel, started) first.
    const std::vector<std::uint32_t>& waits() const { return waits_; }
    /// For each step whether it is the first message to, or from, a peer in a channel; and how many are.
    const std::vector<std::uint8_t>& first_in_channel() const { return first_in_channel_; }
    std::size_t channel_count() const { return channel_count_; }
    /// The steps that wait for `step` to be complete.
    std::span<const std::uint32_t> successors(std::uint32_t step) const {
        return {successors_.data() + first_successor_[step],
                first_successor_[step + 1] - first_successor_[step]};
    }
    /// Whether it calls MPI's own collectives, which block.
    bool blocks() const { return blocks_; }

  private:
    Schedule schedule_;
    std::vector<std::uint32_t> waits_;
    std::vector<std::uint8_t> first_in_channel_;
    std::size_t channel_count_ = 0;
    std::vector<std::uint32_t> first_successor_;
    std::vector<std::uint32_t> successors_;
    bool blocks_ = false;
};

}  // namespace laple::mpi
