// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "mpi/exec/transport.hpp"

namespace laple::mpi {

/// Paced sends of one run of a schedule (Schedule::seconds_per_unit): they start in their order, and not
/// faster than at their pace, but for what may be ahead of it (Schedule::ahead).
class Pacer {
  public:
    /// `steps` is scratch memory, and must outlive this.
    Pacer(double seconds_per_unit, Seconds ahead, std::vector<std::uint32_t>& steps)
        : seconds_per_unit_(seconds_per_unit), ahead_(ahead), steps_(steps) {}

    void restart() {
        steps_.clear();
        next_ = 0;
        next_time_ = Seconds(0);
    }
    void add(std::uint32_t step) { steps_.push_back(step); }

    bool has_waiting() const { return next_ < steps_.size(); }
    std::span<const std::uint32_t> waiting() const { return std::span(steps_).subspan(next_); }
    std::uint32_t front() const { return steps_[next_]; }
    /// Until the first of those that wait may start.
    Seconds time_left() const { return next_time_ - clock_time(); }
    /// The first starts now, with so many units.
    void pop(std::uint64_t units) {
        next_time_ = after(next_time_, Seconds(seconds_per_unit_ * static_cast<double>(units)), ahead_);
        ++next_;
    }

    /// When the next one may start, if one that takes so long and could have started at `time` does so now.
    static Seconds after(Seconds time, Seconds taken, Seconds ahead) {
        return std::max(time, clock_time() - ahead) + taken;
    }

  private:
    double seconds_per_unit_;
    Seconds ahead_;
    std::vector<std::uint32_t>& steps_;  // in their order
    std::size_t next_ = 0;
    Seconds next_time_{0};
};

}  // namespace laple::mpi
