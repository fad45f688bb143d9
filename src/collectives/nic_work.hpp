// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

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

}  // namespace laple
