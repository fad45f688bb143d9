// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/drift/rate_limits.hpp"

#include <algorithm>

namespace laple {
namespace {

/// The lower one; 0 is none.
void lower(double& rate, double limit) {
    if (limit > 0 && (rate <= 0 || limit < rate)) rate = limit;
}

/// No message takes less than its bytes by `limit`.
void slow_down(Curve& curve, double limit) {
    const double start = curve.at(0).count();
    for (const auto& [bytes, time] : std::vector(curve.known()))
        curve.set(bytes, std::max(time, Seconds(start + static_cast<double>(bytes) / limit)));
}

void slow_down(MachineCosts::Link& link, double limit) {
    if (limit <= 0) return;
    slow_down(link.gap, limit);
    slow_down(link.stream, limit);
    for (double* rate : {&link.all, &link.seen, &link.streamed}) {
        if (*rate > 0) lower(*rate, limit);
    }
    for (auto& [connections, rate] : link.by_streams.rate) lower(rate, limit);
}

}  // namespace

bool RateLimits::are_none() const {
    const auto is_none = [](const std::vector<double>& rates) {
        return std::all_of(rates.begin(), rates.end(), [](double rate) { return rate <= 0; });
    };
    return is_none(out) && is_none(in) && is_none(links_);
}

bool RateLimits::are_where(const RateLimits& other) const {
    const auto is_where = [](const std::vector<double>& rates, const std::vector<double>& others) {
        return std::equal(rates.begin(), rates.end(), others.begin(), others.end(),
                          [](double a, double b) { return (a > 0) == (b > 0); });
    };
    return is_where(out, other.out) && is_where(in, other.in) && is_where(links_, other.links_);
}

RateLimits RateLimits::with_changed(const RateLimits& other, double scale) const {
    RateLimits changed = *this;
    const auto change = [scale](std::vector<double>& rates, const std::vector<double>& others) {
        for (std::size_t i = 0; i < rates.size(); ++i) {
            if (rates[i] != others[i]) rates[i] *= scale;
        }
    };
    change(changed.out, other.out);
    change(changed.in, other.in);
    change(changed.links_, other.links_);
    return changed;
}

MachineCosts with_limits(MachineCosts measured, const RateLimits& limits) {
    if (limits.are_none()) return measured;
    measured.job = {};
    for (int from = 0; from < measured.count(); ++from) {
        lower(measured.cluster(from).uplink_out, limits.out[static_cast<std::size_t>(from)]);
        lower(measured.cluster(from).uplink_in, limits.in[static_cast<std::size_t>(from)]);
        for (int to = 0; to < measured.count(); ++to) {
            if (from == to) continue;
            MachineCosts::Link& link = measured.link(from, to);
            if (limits.link(from, to) > 0) lower(link.all, limits.link(from, to));
            for (const double limit : {limits.out[static_cast<std::size_t>(from)],
                                       limits.in[static_cast<std::size_t>(to)], limits.link(from, to)})
                slow_down(link, limit);
        }
    }
    return measured;
}

}  // namespace laple
