// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/pace.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace laple {

Pace pace_of(const SendWindows& windows, const Machine& machine, Rank rank) {
    if (windows.pace.empty()) return {};
    const int cluster = machine.cluster_of_rank(rank);
    const double seconds = windows.pace[at(cluster)];
    const Bytes ahead = windows.ahead.empty() ? 0 : windows.ahead[at(cluster)];
    return {seconds, std::max(Pace::kLeastAhead, Seconds(seconds * static_cast<double>(ahead)))};
}

void pace_sends(const Part& part, ScheduleBuilder& builder) {
    const Pace pace = pace_of(part.windows, part.machine, part.rank);
    if (pace.seconds_per_byte <= 0) return;
    builder.pace_sends(pace.seconds_per_byte * static_cast<double>(part.request.unit_bytes), pace.ahead);
}

}  // namespace laple
