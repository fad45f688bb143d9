// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/network_costs.hpp"
#include "collectives/regions.hpp"

namespace laple {

/// What of a meeting comes to the uplinks, for a message of `bytes`.
struct MeetingBurst {
    double bytes = 0;
    const std::vector<int>& sizes;                ///< of clusters, in ranks
    const std::vector<std::vector<int>>& groups;  ///< the outermost ones
    const std::vector<int>& shares;               ///< of a scatter (Plan::shares)
    const RegionList& regions;                    ///< of a regional meeting
};

/// How long a meeting stalls because more comes to an uplink at once than may wait there, in seconds; 0 where
/// no limit is known (ClusterModel::burst).
///
/// The NICs of a cluster of n ranks send its partial results to other clusters between contributions that
/// stay inside, n - 1 copies of the message in k >= n lanes. What NICs that have rested let pass at once, and
/// then their rate, has the same parts of both. The partial results are, in copies of the message,
///
///     exchange    C - 1
///     doubling    1                                    for each round
///     scatter     1 - w, then w (C - 1)                results of its share w
///     regional    1 - f + f (R - 1), then f (C - 1)    (regional_price.hpp)
///
/// (A rule of our own: on four sites of four hosts behind uplinks of 200 Mbit/s with queues of 128 KiB, an
/// exchange of 32 KiB in four lanes took 16 ms and one of 48 KiB 241, in one lane 18; a scatter of 64 KiB
/// 26 ms and one of 256 KiB 36.)
double stall_of(const Algorithm& algorithm, const MeetingBurst& burst, const NetworkCosts& costs);

}  // namespace laple
