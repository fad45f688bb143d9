// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Where all ranks of `machine` are on one host, they take the places of hosts, and memory that of the
/// network between them: algorithms between hosts serve inside one. `costs` becomes empty where memory was
/// not measured.
void take_ranks_for_hosts(Machine& machine, MachineCosts& costs);

}  // namespace laple
