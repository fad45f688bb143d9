// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace laple {

/// Which steps of a schedule wait for which others.
class StepGraph {
  public:
    explicit StepGraph(const Schedule& schedule);

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

  private:
    std::vector<std::uint32_t> waits_;
    std::vector<std::uint8_t> first_in_channel_;
    std::size_t channel_count_ = 0;
    std::vector<std::uint32_t> first_successor_;
    std::vector<std::uint32_t> successors_;
};

/// A schedule and its graph, worked out once per plan.
struct PreparedSchedule {
    explicit PreparedSchedule(Schedule built) : schedule(std::move(built)), graph(schedule) {}

    Schedule schedule;
    StepGraph graph;
};

}  // namespace laple
