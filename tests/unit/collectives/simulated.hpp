// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <catch2/catch.hpp>

#include "collectives/plan.hpp"
#include "collectives/simulated_network.hpp"
#include "collectives/verifier.hpp"

namespace laple::test {

/// How long a plan takes on the network of `costs`, as the event simulator sees it.
inline double simulated_seconds(const Plan& plan, const Topology& topology, const NetworkCosts& costs) {
    const auto schedules = expand_all(plan, topology);
    NoMemory memory;
    SimulationOptions options;
    options.network = simulated_network(topology, costs, plan.blocks().count() > 1);
    const SimulationResult result = Simulator<NoMemory>(schedules, topology, memory, options).run();
    REQUIRE(result.ok());
    return result.makespan.count();
}

}  // namespace laple::test
