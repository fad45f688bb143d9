// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/units.hpp"
#include "situation.hpp"

namespace laple::plan {

/// What to plan for, in every combination. Sizes of collectives without data count as one.
struct YardstickOptions {
    std::vector<Bytes> sizes;
    std::vector<Rank> roots;   ///< of rooted collectives
    Bytes simulate_up_to = 0;  ///< larger messages are planned, but not simulated
};

/// Every choice, one to a line, in a form that text tools can compare:
///
///     bcast 64K root 3: multi-leader-jackson/chain@8K  predicted 18.4231 ms  simulated 18.5042 ms  order ...
///
/// with all that the plan holds besides its algorithm. What is not simulated, or MPI's own, says "-".
std::string yardstick(const Situation& situation, const YardstickOptions& options);

}  // namespace laple::plan
