// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/schedule/builder.hpp"

namespace laple {

/// How fast one rank sends to other clusters: a token bucket.
struct Pace {
    /// Ranks that share a processor get it now and then.
    static constexpr Seconds kLeastAhead{4e-3};

    double seconds_per_byte = 0;  ///< 0: as fast as can be
    Seconds ahead{0};             ///< Schedule::ahead

    /// That at which a byte takes `factor` times as long, and as many go at once, or what goes in
    /// kLeastAhead.
    Pace scaled(double factor) const {
        return {seconds_per_byte * factor, std::max(kLeastAhead, factor * ahead)};
    }
};

/// That of a rank by the windows of its plan.
Pace pace_of(const SendWindows& windows, const Machine& machine, Rank rank);

/// From now on the rank's sends to other clusters go at its pace, if the plan has one.
void pace_sends(const Part& part, ScheduleBuilder& builder);

}  // namespace laple
