// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/step_graph.hpp"

namespace laple::mpi {

/// A schedule with what an operation wants to know of it, worked out once per plan.
class PreparedSchedule {
  public:
    explicit PreparedSchedule(Schedule schedule);

    const Schedule& schedule() const { return schedule_; }
    const StepGraph& graph() const { return graph_; }
    /// For each step whether it is the first message to, or from, a peer in a channel; and how many are.
    const std::vector<std::uint8_t>& first_in_channel() const { return first_in_channel_; }
    std::size_t channel_count() const { return channel_count_; }

  private:
    Schedule schedule_;
    StepGraph graph_;
    std::vector<std::uint8_t> first_in_channel_;
    std::size_t channel_count_ = 0;
};

}  // namespace laple::mpi
