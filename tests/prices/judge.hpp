// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collectives/collective/collective.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple::test {

/// A machine with its costs, which follow from a number.
struct DrawnMachine {
    Machine machine;
    MachineCosts costs;
};

/// 1-8 clusters, some in groups, of unequal or equal hosts with 1-64 ranks each, 256 ranks at most, in
/// blocks, dealt round or anywhere; 20 us to 50 ms between clusters, NICs of 10 MB/s to 2.5 GB/s, and flows,
/// uplinks and trunks that are slower or not. NICs have saved up nothing: prices are of calls in a row, where
/// that counts little, and a simulation is of one call.
DrawnMachine draw_machine(std::uint64_t number);

/// An algorithm's price beside its time in the simulator.
struct Verdict {
    std::uint64_t machine = 0;
    Collective collective{};
    std::string family;  ///< "rsag@x": in segments and lanes
    std::string name;
    Bytes bytes = 0;
    Rank root = 0;
    double predicted = 0;
    double simulated = 0;

    double error() const { return predicted / simulated - 1; }
};

/// "machine 7, bcast 64K root 3, flat/binomial: 1.20 ms predicted, 1.25 ms simulated"
std::string describe(const Verdict& verdict);

/// Of machine `number`: for every collective one size and one algorithm of each family, of those that the
/// planner proposes and of others. What takes more than `most_messages` messages is left out.
std::vector<Verdict> judge(std::uint64_t number, std::uint64_t most_messages);

/// Of all verdicts on a family in a collective.
struct Errors {
    std::vector<double> sizes;  ///< without their signs, ascending
    double bias = 0;            ///< the median with its sign
    Verdict worst;

    double quantile(double part) const {
        return sizes[static_cast<std::size_t>(part * static_cast<double>(sizes.size() - 1))];
    }
};
std::map<std::pair<std::string, std::string>, Errors> errors_of(const std::vector<Verdict>& verdicts);

}  // namespace laple::test
