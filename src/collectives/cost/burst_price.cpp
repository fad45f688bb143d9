// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/burst_price.hpp"

#include <algorithm>
#include <cstddef>

#include "plogp/uplink_burst.hpp"

namespace laple {
namespace {

constexpr double kTimer = 0.2;  // the least that TCP waits for what was lost (Linux)

}  // namespace

double stall_of(const std::vector<ClusterBurst>& bursts, Bytes bytes, int lanes,
                const std::vector<int>& sizes, const MachineCosts& costs) {
    if (bytes == 0) return 0;
    const auto size = static_cast<double>(bytes);
    const bool stalls = std::any_of(bursts.begin(), bursts.end(), [&](const ClusterBurst& burst) {
        const MachineCosts::Cluster& c = costs.cluster(burst.cluster);
        if (c.burst <= 0) return false;
        const double hosts = std::min(sizes[static_cast<std::size_t>(burst.cluster)], lanes);
        const double far = burst.copies * size;
        const double part = far / (far + (hosts - 1) * size);
        return waiting_at_uplink(far, part * hosts * c.reserve, part * hosts * c.nic_out, c.uplink_out) >
               c.burst;
    });
    return stalls ? kTimer : 0;
}

}  // namespace laple
