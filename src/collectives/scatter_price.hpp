// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/meeting_price.hpp"
#include "collectives/segment_times.hpp"

namespace laple {

/// How the coordinators of clusters share the summing up in a scatter meeting (expand_meeting.hpp), and how
/// long the whole then takes.
struct SharedMeeting {
    std::vector<int> shares;  ///< of each cluster; Plan::shares
    MeetingTime time;
};

/// The best shares w for `lanes` lanes, flat inside clusters of `sizes` ranks, and what they lead to. A
/// cluster of n ranks has b = m/min(n, lanes) of the message m on each coordinator, whose NIC sends
///
///     m - b       contributions to the other coordinators of its cluster
///     b (1 - w)   partial results to those who own them
///     b w (C-1)   results to all other clusters
///     b (n-1)     results inside its cluster
///
/// and gets as much; an uplink passes m (1 - w) + m w (C-1) each way. So the busiest of them is least busy
/// when all are alike: w grows until it is at that level. Clusters far from the others own nothing where
/// their latencies cost more than their NICs bring. The whole takes the busiest resource's time, and two
/// latencies. (GridMPI's latency-aware allreduce with reduce-scatter and allgather on its lanes;
/// algorithms.md 3f, 3l.7)
SharedMeeting share_meeting(int lanes, std::uint64_t segments, const std::vector<int>& sizes,
                            const SegmentTimes& up, const SegmentTimes& down);

}  // namespace laple
