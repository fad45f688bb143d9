// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/algorithms/algorithm.hpp"

namespace laple {

/// The steps of a leader-exchange (leader_exchange.cpp) with binomial trees inside clusters, of which all
/// blocks stay in a temporary buffer. `part` is one of an allgather. Returns where the block of each rank is.
std::vector<Region> gather_apart(const Part& part, ScheduleBuilder& builder);

}  // namespace laple
