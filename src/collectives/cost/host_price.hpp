// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/cost/machine_costs.hpp"
#include "collectives/cost/members.hpp"

namespace laple {

/// Which way messages pass the tree of a host's ranks (trees/host_tree.hpp).
struct HostWays {
    bool up = false;    ///< ranks combine at their leader
    bool down = false;  ///< ranks get it from there
};

/// What the ranks of one host add to an algorithm between hosts. Their memory serves each rank's messages one
/// after the other, each way for itself, while the ports of hosts serve others.
struct HostTime {
    double first = 0;     ///< the time of the first segment, all ways together
    double interval = 0;  ///< between two segments at the busiest rank
};

/// Of a host with `members` ranks, for messages that take `gap` of a rank's memory and travel for `latency`;
/// combining takes `combining` of a rank's processor, while its memory serves the next one:
///
///     down    max over ways (starts · gap + messages · L)
///     up      max over ways (starts · max(gap, combining) + messages · (L + min(gap, combining)))
HostTime host_time(const Members& members, double gap, double latency, double combining, HostWays ways);

}  // namespace laple
