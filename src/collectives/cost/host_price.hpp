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

/// Of a host with `members` ranks, for messages that take `gap` of a rank's memory and travel for `latency`;
/// combining takes `combining` of a rank's processor, while its memory serves the next one:
///
///     down    max over ways (starts · gap + messages · L)
///     up      max over ways (starts · max(gap, combining) + messages · (L + min(gap, combining)))
HostTime host_time(const Members& members, double gap, double latency, double combining, HostWays ways);

}  // namespace laple
