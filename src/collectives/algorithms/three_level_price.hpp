// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/algorithms/phase_price.hpp"
#include "collectives/cost/near_groups.hpp"
#include "collectives/cost/segment_times.hpp"

namespace laple {

/// How long an allreduce on three levels takes (three_level.hpp) in `lanes` lanes, flat inside clusters of
/// `sizes` hosts: the latencies of one segment, and the time of what is busiest then: a NIC (nic_work.hpp),
/// an uplink, a trunk or a flow.
PhaseTime three_level_time(int lanes, std::uint64_t segments, const std::vector<int>& sizes,
                           const ClusterGroups& groups, const SegmentTimes& up, const SegmentTimes& down);

/// Copies of the message that pass the busiest uplink, each way.
double copies_in_groups(const std::vector<int>& sizes, const ClusterGroups& groups);

}  // namespace laple
