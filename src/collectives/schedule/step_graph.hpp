// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace laple {

/// Which steps of a schedule wait for which others.
class StepGraph {
  public:
    explicit StepGraph(const Schedule& schedule);

    /// For each step how many others must be complete (or, before it in its channel, started) first.
    const std::vector<std::uint32_t>& waits() const { return waits_; }
    /// The steps that wait for `step` to be complete.
    std::span<const std::uint32_t> successors(std::uint32_t step) const {
        return {successors_.data() + first_successor_[step],
                first_successor_[step + 1] - first_successor_[step]};
    }

  private:
    std::vector<std::uint32_t> waits_;
    std::vector<std::uint32_t> first_successor_;
    std::vector<std::uint32_t> successors_;
};

}  // namespace laple
