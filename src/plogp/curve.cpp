// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/curve.hpp"

#include <algorithm>
#include <iterator>

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
    const auto above = known_.lower_bound(bytes);
    if (above != known_.end() && (above->first == bytes || above == known_.begin())) return above->second;
    if (above != known_.end()) return on_line(std::prev(above), above, bytes);
    const auto last = std::prev(known_.end());
    if (last == known_.begin()) return last->second;
    return std::max(last->second, on_line(std::prev(last), last, bytes));
}

double Curve::make_monotone() {
    double worst = 0;
    Seconds longest(0);
    for (auto& [bytes, time] : known_) {
        if (time < longest) {
            if (time > Seconds(0)) worst = std::max(worst, longest / time - 1);
            time = longest;
        }
        longest = time;
    }
    return worst;
}

}  // namespace laple
