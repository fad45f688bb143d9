// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/plan.hpp"
#include "collectives/tree_price.hpp"

namespace laple {

/// How long an allreduce or barrier in three phases takes (expand_meeting.hpp): local reduction,
/// coordinators' meeting, local broadcast, in seconds.
///
///     exchange, one lane      R + max over pairs (Σ ports + g + L) + B, for the first segment;
///                             the next ones come as the busiest port, flow or uplink lets them
///     k lanes, flat inside    each rank sends a k-th to each coordinator of a lane, the coordinators meet
///                             k at a time, and each sends its result to all (GridMPI; algorithms.md 3f)
///     doubling                R + Σ over rounds max (g + L) + B
///
/// `groups` are the outermost groups, each a list of clusters, its coordinators' cluster first; `up` and
/// `down` are the times of one segment in both directions.
struct MeetingTime {
    double total = 0;
    double first = 0;  ///< the result of the first segment is everywhere
    double interval = 0;
    Binding binding;
};
MeetingTime meeting_time(const Algorithm& algorithm, std::uint64_t segments,
                         const std::vector<std::vector<int>>& groups, const SegmentTimes& up,
                         const SegmentTimes& down, TreePricer& pricer);

}  // namespace laple
