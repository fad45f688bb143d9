// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/simulated_plan.hpp"

#include <optional>

#include "base/error.hpp"
#include "collectives/simulation/simulated_network.hpp"

namespace laple {

std::vector<SimulatedMessage> simulated_messages(const Plan& plan, const Machine& machine,
                                                 const MachineCosts& costs) {
    const std::optional<MachineCosts> streamed =
        plan.streams > 0 ? std::optional(costs.with_streams()) : std::nullopt;
    if (plan.is_native()) {
        throw Error("MPI's own collective is chosen here: LaPle has no schedule to draw",
                    "force another one, with --algorithm");
    }
    std::vector<SimulatedMessage> messages;
    SimulationOptions options;
    options.network = simulated_network(machine, streamed ? *streamed : costs, plan.segments().count() > 1);
    options.observe = [&](const SimulatedMessage& message) { messages.push_back(message); };
    const SimulationResult result = simulate(expand_all(plan, machine), machine, nullptr, options);
    if (!result.ok()) throw Error("the plan cannot be simulated: " + result.failure, "please report this");
    return messages;
}

}  // namespace laple
