// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/one_host.hpp"

#include <algorithm>
#include <bit>

namespace laple {

namespace {

/// A message that is longer goes in several parts, each to one receiver.
constexpr Bytes kCopiedOnce = 64 * 1024;

/// What no price of messages holds: to begin an operation takes as long as two messages, and where a call
/// comes after a pause, as long as a round of MPI's own barrier, which was measured so.
double time_to_begin(const MachineCosts& costs, int ranks) {
    const MachineCosts::Link& memory = costs.cluster(0).memory;
    const double messages = 2 * (memory.latency + memory.gap.at(0).count());
    const Curve& barrier = costs.job.of("barrier");
    if (barrier.is_empty() || costs.job.ranks != ranks || ranks < 2) return messages;
    const auto rounds = static_cast<double>(std::bit_width(static_cast<unsigned>(ranks - 1)));
    return std::max(messages, barrier.at(0).count() / rounds);
}

/// Copies of one rank queue: they take its processor. No NIC, uplink or TCP has a part in them.
MachineCosts on_one_host(const MachineCosts& costs, int ranks) {
    if (costs.count() != 1 || !costs.cluster(0).is_memory_known) return {};
    MachineCosts here(1);
    here.shares_ports = false;
    here.job = costs.job;
    here.cluster(0).reduction = costs.cluster(0).reduction;
    here.link(0, 0) = costs.cluster(0).memory;
    here.link(0, 0).copied_once = kCopiedOnce;
    here.rank_delay = time_to_begin(costs, ranks);
    return here;
}

}  // namespace

void take_ranks_for_hosts(Machine& machine, MachineCosts& costs) {
    if (machine.host_count() != 1) return;
    machine = Machine(Topology::flat(machine.rank_count()));
    costs = on_one_host(costs, machine.rank_count());
}

}  // namespace laple
