// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/rank_delay.hpp"

#include <algorithm>
#include <bit>

#include "collectives/cost/rounds.hpp"

namespace laple {

void add_rank_delay(const Machine& machine, MachineCosts& costs) {
    const Curve& barrier = costs.job.of("barrier");
    const int ranks = machine.rank_count();
    if (barrier.is_empty() || costs.job.ranks != ranks || costs.count() != 1 || ranks < 2) return;
    Rounds rounds(0, machine, costs);
    rounds.dissemination();
    const double longer = barrier.at(0).count() - rounds.last();
    costs.rank_delay = std::max(longer, 0.0) / std::bit_width(static_cast<unsigned>(ranks - 1));
    costs.link(0, 0).latency += costs.rank_delay;
}

}  // namespace laple
