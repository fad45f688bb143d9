// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/cluster_ring.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "collectives/algorithms/host_members.hpp"

namespace laple {

std::vector<int> clusters_in_order(const Request& request, const Machine& machine) {
    const std::vector<int> cluster_of = clusters_of_members(request, machine);
    std::vector<int> clusters;
    for (const MemberRange range : member_ranges(cluster_of))
        clusters.push_back(cluster_of[static_cast<std::size_t>(range.first)]);
    return clusters;
}

RingOrder ring_order(const Pricing& pricing) {
    const std::vector<int> clusters = clusters_in_order(pricing.request(), pricing.machine());
    RingOrder order(clusters.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto latency_from = [&](int from, std::size_t to) {
        const MachineCosts& costs = pricing.costs();
        return costs.link(from, clusters[to]).latency + costs.link(clusters[to], from).latency;
    };
    for (auto last = order.begin(); last != order.end() && last + 1 != order.end(); ++last) {
        const int from = clusters[*last];
        std::iter_swap(last + 1, std::min_element(last + 1, order.end(), [&](std::size_t a, std::size_t b) {
                           return std::pair(latency_from(from, a), a) < std::pair(latency_from(from, b), b);
                       }));
    }
    return order;
}

}  // namespace laple
