// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/cost/machine_costs.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/simulation/simulator.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Every message of a plan for the ranks of `machine`, as the event simulator sees it on that network
/// (simulated_network.hpp), by streams where the plan has them. Throws Error for a plan that has no schedule:
/// MPI's own.
std::vector<SimulatedMessage> simulated_messages(const Plan& plan, const Machine& machine,
                                                 const MachineCosts& costs);

}  // namespace laple
