// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/host_price.hpp"

#include <algorithm>

namespace laple {

HostTime host_time(const Members& members, double gap, double latency, double combining, HostWays ways) {
    if (members.size() == 1) return {};
    const auto longest = [&](double each, double on_top) {
        double time = 0;
        for (const Members::Way& way : members.longest)
            time = std::max(time, way.starts * each + way.messages * on_top);
        return time;
    };
    const auto of_leader = static_cast<double>(members.children_of(0).size());
    const auto below = static_cast<double>(members.most_below);
    HostTime time;
    if (ways.down) time.first += longest(gap, latency);
    if (ways.up) time.first += longest(std::max(gap, combining), latency + std::min(gap, combining));
    // Who passes on what comes down also sends what goes up, and the other way round.
    const double own = ways.up && ways.down ? 1 : 0;
    time.interval = std::max(of_leader, below + own) * gap;
    if (ways.up) time.interval = std::max(time.interval, std::max(of_leader, below) * combining);
    return time;
}

}  // namespace laple
