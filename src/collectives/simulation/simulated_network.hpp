// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/cost/machine_costs.hpp"
#include "collectives/simulation/simulator.hpp"
#include "topology/machine.hpp"

namespace laple {

/// The network that `costs` say there is under the clusters of `machine`, for the simulator: hosts' ports,
/// uplinks, trunks between groups, slow flows, and memory between ranks of a host. `is_stream`: messages are
/// many in a row. The references must outlive it.
SimulatedNetwork simulated_network(const Machine& machine, const MachineCosts& costs, bool is_stream);

}  // namespace laple
