// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/meeting_price.hpp"
#include "collectives/regions.hpp"
#include "collectives/segment_times.hpp"

namespace laple {

/// How long a regional meeting (expand_meeting.hpp) takes in `lanes` lanes that are flat inside clusters of
/// `sizes` ranks. A cluster of n ranks that holds the part f of its region's has b = m/min(n, lanes) of the
/// message m on each deputy, whose NIC sends
///
///     m - b            contributions to the other deputies of its cluster
///     b (1 - f)        partial results to the coordinators in other clusters of its region
///     b f        as a coordinator, partial results to the R-1 other regions
///     b f (C-1)        results to the C-1 other clusters of its region
///     b (n-1)          results inside its cluster
///
/// and gets as much; an uplink passes the part of the middle three, for m in place of b. The whole takes the
/// latencies (to the coordinator, to another region, to its clusters) and the time of the busiest uplink or
/// link (clusters meet as often as the lanes' turns let them), or that of the busiest NIC, which has
/// contributions to send and get meanwhile (nic_work.hpp).
MeetingTime regional_time(int lanes, std::uint64_t segments, const std::vector<int>& sizes,
                          const RegionList& regions, const SegmentTimes& up, const SegmentTimes& down);

/// How many copies of the message pass the busiest uplink of a cluster, each way: the middle three of the
/// above.
double copies_in_regions(const std::vector<int>& sizes, const RegionList& regions);

}  // namespace laple
