// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/burst_price.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "plogp/uplink_burst.hpp"

namespace laple {
namespace {

constexpr double kTimer = 0.2;  // the least that TCP waits for what was lost (Linux)

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

/// Copies of the message that a cluster sends to others in one go, at most.
double copies(const Algorithm& algorithm, const MeetingBurst& burst, int cluster) {
    const auto others = [](std::size_t count) { return static_cast<double>(count) - 1; };
    const auto of_both = [](double there, double back) { return std::max(there, back); };
    if (algorithm.meeting == Meeting::scatter) {
        // Without shares all clusters have equal ones (Plan::shares).
        const double all = std::accumulate(burst.shares.begin(), burst.shares.end(), 0);
        const double share =
            all > 0 ? burst.shares[at(cluster)] / all : 1.0 / static_cast<double>(burst.sizes.size());
        return of_both(1 - share, share * others(burst.sizes.size()));
    }
    if (algorithm.meeting == Meeting::regional) {
        for (const auto& region : burst.regions) {
            if (std::find(region.begin(), region.end(), cluster) == region.end()) continue;
            double ranks = 0;
            for (const int c : region) ranks += burst.sizes[at(c)];
            const double part = burst.sizes[at(cluster)] / ranks;
            return of_both(1 - part + part * others(burst.regions.size()), part * others(burst.sizes.size()));
        }
    }
    return algorithm.meeting == Meeting::exchange ? others(burst.groups.size()) : 1;
}

bool stalls(const Algorithm& algorithm, const MeetingBurst& burst, const NetworkCosts& costs, int cluster) {
    const NetworkCosts::Cluster& c = costs.cluster(cluster);
    if (c.burst <= 0) return false;
    const double nodes = std::min(burst.sizes[at(cluster)], algorithm.lanes);
    const double far = copies(algorithm, burst, cluster) * burst.bytes;
    const double part = far / (far + (nodes - 1) * burst.bytes);
    return waiting_at_uplink(far, part * nodes * c.reserve, part * nodes * c.nic_out, c.uplink_out) > c.burst;
}

}  // namespace

double stall_of(const Algorithm& algorithm, const MeetingBurst& burst, const NetworkCosts& costs) {
    if (burst.bytes <= 0) return 0;
    if (algorithm.meeting == Meeting::scatter || algorithm.meeting == Meeting::regional) {
        for (int c = 0; c < costs.count(); ++c) {
            if (stalls(algorithm, burst, costs, c)) return kTimer;
        }
        return 0;
    }
    for (const auto& group : burst.groups) {
        if (stalls(algorithm, burst, costs, group.front())) return kTimer;
    }
    return 0;
}

}  // namespace laple
