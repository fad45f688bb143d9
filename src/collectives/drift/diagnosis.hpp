// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include "collectives/drift/rate_limits.hpp"
#include "collectives/planner/plan.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Calls of one kind, and the network that they are planned by.
struct WatchedCall {
    const Plan& plan;
    const Machine& machine;
    const MachineCosts& measured;
    const RateLimits& limits;   ///< as known by now
    const RateLimits& refuted;  ///< that were wrong before: they hold where nothing else does; may be none
};

/// Finds out which uplink, or link, has changed its rate, from what each link's spans (LinkSpans) are by what
/// they usually were: `ratios`, row by row; 0: not known. Every uplink and link through which the most
/// changed spans go is supposed to have changed, one at a time; so is that a former change is over. The plan
/// is simulated on each of these networks, until one explains nearly all. The one whose spans change as those
/// that were seen holds:
///
///     seen                  a's uplink slower      b's uplink slower      b's link to a slower
///     a→b x3  a→c x3        x3  x3   ← holds       x3  x1                 x3  x1
///
/// Nothing where none of them comes near; but limits that are there go when links are faster for any reason.
/// A pure function, for all ranks alike.
std::optional<RateLimits> explain(const WatchedCall& call, std::span<const double> ratios);

}  // namespace laple
