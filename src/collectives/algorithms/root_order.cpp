// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/root_order.hpp"

#include <algorithm>

#include "base/index.hpp"
#include "collectives/collective/collective.hpp"

namespace laple {
namespace {

double seconds_for(double bytes, double rate) {
    return rate > 0 ? bytes / rate : 0;
}

/// How long what cluster `c` gets is under way once the root has sent all of it: the uplink lets the first of
/// it pass meanwhile.
double tail(const Request& request, const Machine& machine, const MachineCosts& costs, int c) {
    const int root = machine.cluster_of_rank(request.root);
    const auto bytes = static_cast<double>(request.bytes() * machine.ranks_in(c).size());
    const double uplink = costs.likely_uplink_in(c, static_cast<int>(machine.hosts_in(c).size()));
    const double late = seconds_for(bytes, uplink) - seconds_for(bytes, costs.cluster(root).nic_out);
    return costs.link(root, c).latency + std::max(late, 0.0);
}

}  // namespace

std::vector<int> root_order(const Request& request, const Machine& machine, const MachineCosts& costs) {
    const CollectiveRow& row = row_of(request.collective);
    if (!row.is_rooted || row.runs_to_root || costs.count() < 2) return {};
    const Request blocks = of_long_blocks(request);
    std::vector<double> tails;
    for (int c = 0; c < costs.count(); ++c) {
        const bool is_near = c == machine.cluster_of_rank(request.root);
        tails.push_back(is_near ? 0 : tail(blocks, machine, costs, c));
    }
    std::vector<int> order = all_below(tails.size());
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return tails[at(a)] > tails[at(b)]; });
    return order;
}

std::vector<int> turns_in(const std::vector<int>& order) {
    std::vector<int> turns(order.size());
    for (std::size_t place = 0; place < order.size(); ++place)
        turns[at(order[place])] = static_cast<int>(place);
    return turns;
}

Request of_long_blocks(const Request& request) {
    constexpr Bytes kLongBlock = 64 * 1024;
    return request.is_varied ? request_for(request.collective, kLongBlock, request.root) : request;
}

}  // namespace laple
