// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/network_costs.hpp"
#include "collectives/simulator.hpp"
#include "collectives/strategy.hpp"
#include "topology/topology.hpp"

namespace laple {

/// The network of `costs`, which count the innermost clusters of `topology`, for the simulator. Ports are as
/// long as gaps, of one message or of many in a row. The references must outlive it.
SimulatedNetwork simulated_network(const Topology& topology, const NetworkCosts& costs, bool is_stream);

/// That of one homogeneous cluster; `is_stream` as above. The reference must outlive it.
SimulatedNetwork simulated_network(const LocalCluster& cluster, bool is_stream);

}  // namespace laple
