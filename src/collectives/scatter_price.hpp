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

/// The best shares for `lanes` lanes, flat inside clusters of `sizes` ranks: every rank of some clusters owns
/// as much as any other, of those clusters that are nearest to all others. Equal owners are served alike
/// where flows share a link; those of unequal ones would get ahead of each other, and all wait for the last.
/// A cluster of n ranks that owns the share w of the message m has b = m/min(n, lanes) on each coordinator,
/// whose NIC sends
///
///     m - b       contributions to the other coordinators of its cluster
///     b (1 - w)   partial results to those who own them
///     b w (C-1)   results to all other clusters
///     b (n-1)     results inside its cluster
///
/// and gets as much; an uplink passes m (1 - w) + m w (C-1) each way. The whole takes two
/// latencies and the time of the busiest uplink or link, or that of the busiest NIC, which has contributions
/// to send and get meanwhile (nic_work.hpp). (GridMPI's latency-aware allreduce with reduce-scatter and
/// allgather on its lanes; algorithms.md 3f)
SharedMeeting share_meeting(int lanes, std::uint64_t segments, const std::vector<int>& sizes,
                            const SegmentTimes& up, const SegmentTimes& down);

}  // namespace laple
