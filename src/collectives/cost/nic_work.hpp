// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/cost/segment_times.hpp"

namespace laple {

/// What a NIC does in one direction in a meeting whose segments pass one after the other: contributions and
/// partial results, which there are from the beginning, and results, of which the first comes `wait` after
/// its contributions have gone, and the last so long after the last of them.
///
///     before only ┤ both in turn       ├ the rest of what comes after
///     ├── wait ───┤
///                 result of the first …
///
/// In seconds. (A model of our own; a fluid one: segments are small.)
struct NicWork {
    double before = 0;
    double after = 0;

    double all() const { return before + after; }

    /// Until it is through. What there is of both kinds has equal parts of the NIC.
    double time(double wait) const {
        if (before <= wait) return wait + std::max(before, after);
        const double at_the_same_time = std::min(after, before - wait);
        return std::max(all(), before + at_the_same_time + wait);
    }
};

/// How much longer the first segments take to all, in seconds, because a coordinator's NIC takes the
/// contributions of its cluster's other ranks, and sends them the results, one by one; `sizes` are the
/// clusters' ranks.
inline double one_by_one(const std::vector<int>& sizes, const SegmentTimes& up, const SegmentTimes& down) {
    double longest = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const int c = static_cast<int>(i);
        longest = std::max(longest, (sizes[i] - 2) * (up.port(c, c) + down.port(c, c)));
    }
    return longest;
}

}  // namespace laple
