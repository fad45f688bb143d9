// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/curve.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <vector>

namespace laple {
namespace {

using Known = std::map<Bytes, Seconds>;

/// The line through two sizes, at `bytes`.
Seconds on_line(Known::const_iterator a, Known::const_iterator b, Bytes bytes) {
    const auto position = (static_cast<double>(bytes) - static_cast<double>(a->first)) /
                          static_cast<double>(b->first - a->first);
    return a->second + position * (b->second - a->second);
}

}  // namespace

Seconds Curve::at(Bytes bytes) const {
    if (known_.empty()) return Seconds(0);
    if (bytes <= known_.begin()->first) return known_.begin()->second;
    const auto above = known_.lower_bound(bytes);
    if (above != known_.end() && above->first == bytes) return above->second;
    if (above != known_.end()) return on_line(std::prev(above), above, bytes);
    const auto last = std::prev(known_.end());
    if (last == known_.begin()) return last->second;
    // Two sizes that are close together would make a poor line.
    const auto half = known_.upper_bound(last->first / 2);
    const auto base = half == known_.begin() ? half : std::prev(half);
    return std::max(last->second, on_line(base, last, bytes));
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
