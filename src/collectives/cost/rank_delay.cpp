// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/rank_delay.hpp"

#include <algorithm>

#include "collectives/cost/rounds.hpp"

namespace laple {
namespace {

/// How much longer MPI's barrier took than `factor` times what its messages take; 0 where that is not known.
double longer_than_by_messages(const Machine& machine, const MachineCosts& costs, double factor) {
    const Curve& barrier = costs.job.of("barrier");
    if (barrier.is_empty() || costs.job.ranks != machine.rank_count() || machine.rank_count() < 2) return 0;
    Rounds rounds(0, machine, costs);
    rounds.barrier();
    return std::max(barrier.at(0).count() - factor * rounds.last(), 0.0);
}

int rounds_of_barrier(const Machine& machine, const MachineCosts& costs) {
    return Rounds(0, machine, costs).rounds_of_barrier();
}

}  // namespace

void add_rank_delay(const Machine& machine, MachineCosts& costs) {
    if (costs.count() != 1 || machine.host_count() < 2) return;
    costs.rank_delay = longer_than_by_messages(machine, costs, 1) / rounds_of_barrier(machine, costs);
    costs.link(0, 0).latency += costs.rank_delay;
}

void add_message_time(const Machine& machine, MachineCosts& costs) {
    constexpr double kDoubt = 1.1;  // of latencies
    // A process that waits for a message is woken for it; in the exchange, once for many. Between seven sites
    // 0.2 to 0.7 ms apart, 16 ranks on two cores, the exchange told 8 to 18 us a message, and allreduces of
    // 60 and of 30 messages differed by 25 to 31 us for each.
    constexpr double kOneByOne = 2;
    if (costs.count() < 2) return;
    double farthest = 0;
    for (int a = 0; a < costs.count(); ++a) {
        for (int b = 0; b < costs.count(); ++b) farthest = std::max(farthest, costs.link(a, b).latency);
    }
    if (farthest > kNearClusters.count()) return;
    const int ranks = machine.rank_count();
    if (costs.job.exchange > Seconds(0) && costs.job.ranks == ranks) {
        const double longer = std::max(costs.job.exchange.count() - kDoubt * farthest, 0.0);
        costs.message_time = kOneByOne * longer / (ranks * (ranks - 1));
        return;
    }
    const int on_hosts = 2 * (ranks - machine.host_count());
    const int messages = on_hosts + machine.host_count() * rounds_of_barrier(machine, costs);
    costs.message_time = longer_than_by_messages(machine, costs, kDoubt) / messages;
}

}  // namespace laple
