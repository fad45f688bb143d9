// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/curve.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <vector>

namespace laple {
namespace {

using Known = std::vector<std::pair<Bytes, Seconds>>;

bool is_smaller(const std::pair<Bytes, Seconds>& point, Bytes bytes) {
    return point.first < bytes;
}

/// The line through two sizes, at `bytes`.
Seconds on_line(Known::const_iterator a, Known::const_iterator b, Bytes bytes) {
    const auto position = (static_cast<double>(bytes) - static_cast<double>(a->first)) /
                          static_cast<double>(b->first - a->first);
    return a->second + position * (b->second - a->second);
}

}  // namespace

Seconds Curve::at(Bytes bytes) const {
    if (known_.empty()) return Seconds(0);
    if (bytes <= known_.front().first) return known_.front().second;
    const auto above = std::lower_bound(known_.begin(), known_.end(), bytes, is_smaller);
    if (above != known_.end() && above->first == bytes) return above->second;
    if (above != known_.end()) return on_line(std::prev(above), above, bytes);
    const auto last = std::prev(known_.end());
    if (last == known_.begin()) return last->second;
    // Two sizes that are close together would make a poor line: the last one of at most half the size.
    const auto beyond_half = std::lower_bound(known_.begin(), known_.end(), last->first / 2 + 1, is_smaller);
    const auto base = beyond_half == known_.begin() ? beyond_half : std::prev(beyond_half);
    return std::max(last->second, on_line(base, last, bytes));
}

const Seconds* Curve::find(Bytes bytes) const {
    const auto found = std::lower_bound(known_.begin(), known_.end(), bytes, is_smaller);
    return found != known_.end() && found->first == bytes ? &found->second : nullptr;
}

void Curve::set(Bytes bytes, Seconds time) {
    const auto place = std::lower_bound(known_.begin(), known_.end(), bytes, is_smaller);
    if (place != known_.end() && place->first == bytes) {
        place->second = time;
    } else {
        known_.insert(place, {bytes, time});
    }
}

Seconds Curve::make_monotone() {
    struct Pool {
        Seconds sum{0};
        int count = 0;
        Seconds mean() const { return sum / count; }
    };
    std::vector<Pool> pools;
    for (const auto& [bytes, time] : known_) {
        pools.push_back({time, 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
            const Pool last = pools.back();
            pools.pop_back();
            pools.back() = {pools.back().sum + last.sum, pools.back().count + last.count};
        }
    }
    Seconds worst(0);
    auto point = known_.begin();
    for (const Pool& pool : pools) {
        for (int i = 0; i < pool.count; ++i, ++point) {
            worst = std::max(worst, std::chrono::abs(point->second - pool.mean()));
            point->second = pool.mean();
        }
    }
    return worst;
}

}  // namespace laple
