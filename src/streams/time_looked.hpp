// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/units.hpp"

namespace laple::streams {

/// How long a process has waited for something while it looked for it. What lies between two looks counts
/// 100 ms at most: a process that was stopped, or had no core, could do nothing about it.
class TimeLooked {
  public:
    void look(Seconds now) {
        constexpr Seconds kLongest = std::chrono::milliseconds(100);
        if (last_) time_ += std::min(now - *last_, kLongest);
        last_ = now;
    }
    Seconds time() const { return time_; }
    void begin_anew() { *this = TimeLooked(); }

  private:
    std::optional<Seconds> last_;
    Seconds time_{0};
};

}  // namespace laple::streams
