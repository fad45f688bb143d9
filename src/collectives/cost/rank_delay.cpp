// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/rank_delay.hpp"

#include <algorithm>
#include <bit>

#include "collectives/cost/rounds.hpp"

namespace laple {
namespace {

int rounds_of_barrier(int ranks) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

/// How much longer MPI's barrier took than `factor` times what its messages take; 0 where that is not known.
double longer_than_by_messages(const Machine& machine, const MachineCosts& costs, double factor) {
    const Curve& barrier = costs.job.of("barrier");
    if (barrier.is_empty() || costs.job.ranks != machine.rank_count() || machine.rank_count() < 2) return 0;
    Rounds rounds(0, machine, costs);
    rounds.dissemination();
    return std::max(barrier.at(0).count() - factor * rounds.last(), 0.0);
}

}  // namespace

void add_rank_delay(const Machine& machine, MachineCosts& costs) {
    if (costs.count() != 1 || machine.rank_count() < 2) return;
    costs.rank_delay = longer_than_by_messages(machine, costs, 1) / rounds_of_barrier(machine.rank_count());
    costs.link(0, 0).latency += costs.rank_delay;
}

void add_message_time(const Machine& machine, MachineCosts& costs) {
    constexpr double kDoubt = 1.1;  // of latencies
    if (costs.count() < 2) return;
    double farthest = 0;
    for (int a = 0; a < costs.count(); ++a) {
        for (int b = 0; b < costs.count(); ++b) farthest = std::max(farthest, costs.link(a, b).latency);
    }
    if (farthest > kNearClusters.count()) return;
    const int ranks = machine.rank_count();
    if (costs.job.exchange > Seconds(0) && costs.job.ranks == ranks) {
        const double longer = std::max(costs.job.exchange.count() - kDoubt * farthest, 0.0);
        costs.message_time = longer / (ranks * (ranks - 1));
        return;
    }
    const int messages = machine.rank_count() * rounds_of_barrier(machine.rank_count());
    costs.message_time = longer_than_by_messages(machine, costs, kDoubt) / messages;
}

}  // namespace laple
