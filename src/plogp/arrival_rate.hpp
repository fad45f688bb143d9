// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.hpp"

namespace laple {

/// At what rate bytes come that are sent for some time: that of its last quarter, by when TCP has found it.
///
///     bytes │              ╱──  the end: all have come, or the time is over
///           │            ╱
///           │          ╱ ·
///           │      _.─   ·
///           └──┬─────────┬────┬─ time
///            first      3/4   1
class ArrivalRate {
  public:
    /// They are sent from `start` on, for `duration` > 0.
    ArrivalRate(Seconds start, Seconds duration) : start_{start, 0}, duration_(duration) {}

    /// Whether what has come by `now` is of interest. `is_last`: nothing will come any more.
    bool wants(Seconds now, bool is_last) const;
    /// By `time` so many bytes have come, in all.
    void note(Seconds time, std::uint64_t bytes, bool is_last);
    /// Bytes a second; 0: nothing has come. Of what is so slow that little comes in the last quarter, all
    /// counts.
    double rate() const;

  private:
    struct Arrival {
        Seconds time{0};
        std::uint64_t bytes = 0;
    };

    double part(Seconds time) const { return (time - first_->time) / duration_; }

    Arrival start_;
    Seconds duration_;
    std::optional<Arrival> first_;
    std::optional<Arrival> since_;  // the last quarter begins
    std::optional<Arrival> until_;
};

}  // namespace laple
