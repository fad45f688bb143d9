// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple::plan {

/// What plans are made for: ranks on hosts in clusters, and the costs of the network between them.
struct Situation {
    Machine machine = Machine(Topology::flat(1));
    MachineCosts costs;
    std::string source;                        ///< where it comes from, for people
    std::vector<std::string> host_names = {};  ///< by the number of the host; empty: they have none
};

/// From a model that laple-discover --model has written, with its ranks on its hosts. Throws Error when it
/// cannot be read, or has no rates.
Situation situation_of_file(const std::string& file);

/// Which ranks share a host, of a description: consecutive ones, or they are dealt round all hosts.
enum class RankOrder { block, cyclic };

/// From a description such as "site:6 node:16": six sites of 16 hosts each. Every level may say how far its
/// members are from each other, and how fast: "site:6:25ms:100Mbit node:16:50us:1Gbit". A last level "rank:8"
/// gives each host eight ranks; what it says is of the host's memory. Throws Error, with the grammar.
Situation synthetic_situation(const std::string& text, RankOrder order);

}  // namespace laple::plan
