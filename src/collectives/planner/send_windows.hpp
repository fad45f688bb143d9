// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/algorithms/candidate.hpp"
#include "collectives/cost/machine_costs.hpp"

namespace laple {

/// The send windows of a plan that is priced as `candidate`, which is not native.
///
/// - In a channel: twice what fills the longest and fastest flow in use, the bandwidth-delay product of a
///   round trip. The NIC of a rank in a lane has the others' segments to send, too.
/// - Locally: what the NICs of a cluster send in a time that is short against the latency between clusters.
/// - Globally: what passes in so long a time that the results of what has gone are back by then, also where
///   they have to queue on their way: three times as much was enough for some networks, twice as much for
///   none. Results that go to a root alone need no way back: between sixteen hosts alone 1 MiB took 155 ms
///   with four times as much, 129 with twice, 139 with one and a half.
///
/// Where a link carries more than was measured they would hold it at what was: then windows are as large as
/// any, and nothing goes at a pace.
SendWindows windows_for(const Candidate& candidate, const Request& request, const Machine& machine,
                        const MachineCosts& costs);

}  // namespace laple
