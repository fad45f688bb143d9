// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/root_order.hpp"

#include <algorithm>

#include "base/index.hpp"
#include "collectives/collective/collective.hpp"

namespace laple {

std::vector<int> root_order(const Request& request, const Machine& machine, const MachineCosts& costs) {
    const CollectiveRow& row = row_of(request.collective);
    if (!row.is_rooted || row.runs_to_root || costs.count() < 2) return {};
    const int root = machine.cluster_of_rank(request.root);
    std::vector<double> tails;
    for (int c = 0; c < costs.count(); ++c) {
        const auto bytes = static_cast<double>(request.bytes() * machine.ranks_in(c).size());
        const double rate = costs.cluster(c).uplink_in;
        const double tail = costs.link(root, c).latency + (rate > 0 ? bytes / rate : 0);
        tails.push_back(c == root ? 0 : tail);
    }
    std::vector<int> order = all_below(tails.size());
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return tails[at(a)] > tails[at(b)]; });
    return order;
}

int turn_in(const std::vector<int>& order, const Machine& machine, Rank rank) {
    return static_cast<int>(std::find(order.begin(), order.end(), machine.cluster_of_rank(rank)) -
                            order.begin());
}

}  // namespace laple
