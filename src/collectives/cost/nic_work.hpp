// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/cost/segment_times.hpp"

namespace laple {

/// The load of a NIC, in one direction, in an inter-cluster phase whose segments pass one after the other.
/// Contributions and partial results are available from the start (`before`); results (`after`) follow: the
/// first one `wait` seconds after its contributions have left, the last one as long after the last of them.
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

    /// Until the NIC has sent all. While both kinds are waiting, they share the NIC equally.
    double time(double wait) const {
        if (before <= wait) return wait + std::max(before, after);
        const double at_the_same_time = std::min(after, before - wait);
        return std::max(all(), before + at_the_same_time + wait);
    }
};

/// Of what lanes carry, that which the busiest of some members carries that take turns: all in as many lanes.
inline double busiest_part(int members, int lanes) {
    return static_cast<double>((lanes + members - 1) / members) / lanes;
}

/// How much longer the first segments take to all, in seconds, because a leader's NIC takes the
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
