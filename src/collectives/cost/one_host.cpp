// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/one_host.hpp"

namespace laple {

namespace {

/// A message that is longer goes in several parts, each to one receiver.
constexpr Bytes kCopiedOnce = 64 * 1024;

/// Copies of one rank queue: they take its processor. No NIC, uplink or TCP has a part in them.
MachineCosts on_one_host(const MachineCosts& costs) {
    if (costs.count() != 1 || !costs.cluster(0).is_memory_known) return {};
    MachineCosts here(1);
    here.shares_ports = false;
    here.native = costs.native;
    here.cluster(0).reduction = costs.cluster(0).reduction;
    here.link(0, 0) = costs.cluster(0).memory;
    here.link(0, 0).copied_once = kCopiedOnce;
    // To begin an operation takes as long as two messages, and is in none of the prices.
    here.rank_delay = 2 * (here.link(0, 0).latency + here.link(0, 0).gap.at(0).count());
    return here;
}

}  // namespace

void take_ranks_for_hosts(Machine& machine, MachineCosts& costs) {
    if (machine.host_count() != 1) return;
    machine = Machine(Topology::flat(machine.rank_count()));
    costs = on_one_host(costs);
}

}  // namespace laple
