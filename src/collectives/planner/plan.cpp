// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/plan.hpp"

namespace laple {

std::vector<Schedule> expand_all(const Plan& plan, const Machine& machine) {
    std::vector<Schedule> schedules;
    schedules.reserve(static_cast<std::size_t>(machine.rank_count()));
    for (Rank rank = 0; rank < machine.rank_count(); ++rank) schedules.push_back(expand(plan, machine, rank));
    return schedules;
}

}  // namespace laple
