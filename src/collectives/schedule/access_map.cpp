// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/schedule/access_map.hpp"

#include <algorithm>
#include <utility>

namespace laple {

std::size_t AccessMap::first_beyond(std::uint64_t unit) const {
    const auto is_it = [&](std::size_t i) {
        return (i == accesses_.size() || accesses_[i].end > unit) && (i == 0 || accesses_[i - 1].end <= unit);
    };
    if (next_ <= accesses_.size() && is_it(next_)) return next_;
    if (next_ > 0 && is_it(next_ - 1)) return next_ - 1;
    const auto found = std::partition_point(accesses_.begin(), accesses_.end(),
                                            [&](const Access& access) { return access.end <= unit; });
    return static_cast<std::size_t>(found - accesses_.begin());
}

void AccessMap::insert(std::size_t at, Access access) {
    accesses_.insert(accesses_.begin() + static_cast<std::ptrdiff_t>(at), std::move(access));
}

void AccessMap::cut(std::size_t i, std::uint64_t unit) {
    Access rest = accesses_[i];
    rest.begin = unit;
    accesses_[i].end = unit;
    insert(i + 1, std::move(rest));
}

}  // namespace laple
