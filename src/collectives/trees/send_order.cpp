// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/trees/send_order.hpp"

#include <algorithm>

namespace laple {

ClusterTimes ClusterTimes::reversed() const {
    ClusterTimes result(count());
    for (int a = 0; a < count(); ++a) {
        result.set_local(a, local(a));
        for (int b = 0; b < count(); ++b) {
            result.set_gap(a, b, gap(b, a));
            result.set_latency(a, b, latency(b, a));
        }
    }
    return result;
}

double makespan(const ClusterTimes& times, const SendOrder& order, int root, LocalPhase phase) {
    // Small, and asked for very often: no memory is allocated for up to so many clusters.
    constexpr std::size_t kFew = 64;
    const auto count = static_cast<std::size_t>(times.count());
    double few[2 * kFew];
    std::vector<double> many(count > kFew ? 2 * count : 0);
    double* const ready = count > kFew ? many.data() : few;
    double* const arrival = ready + count;
    ready[root] = arrival[root] = 0;
    for (const Send& send : order) {
        const double start = ready[send.from];
        ready[send.from] = start + times.gap(send.from, send.to);
        ready[send.to] = arrival[send.to] = start + times.trip(send.from, send.to);
    }
    const double* const begin = phase == LocalPhase::at_once ? arrival : ready;
    double last = begin[root] + times.local(root);
    for (const Send& send : order) last = std::max(last, begin[send.to] + times.local(send.to));
    return last;
}

}  // namespace laple
