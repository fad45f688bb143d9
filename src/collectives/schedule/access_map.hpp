// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace laple {

/// Who has used which units of one memory last: intervals that do not overlap, cut where accesses begin and
/// end. Accesses that go on where the last one ended, or use the same units again, find theirs at once;
/// others take O(log intervals), and O(intervals) where they cut.
class AccessMap {
  public:
    struct Access {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::int64_t writer = -1;
        std::int64_t first_reader = -1;     // since that write; most have one
        std::vector<std::uint32_t> others;  // that read it then
    };

    /// Calls `use(Access&)` for intervals that together are [begin, end).
    template <typename Use>
    void for_each(std::uint64_t begin, std::uint64_t end, Use use) {
        std::size_t i = first_beyond(begin);
        for (; begin < end; ++i) {
            if (i == accesses_.size() || accesses_[i].begin >= end) {
                insert(i, {begin, end, -1, -1, {}});
            } else if (accesses_[i].begin > begin) {
                insert(i, {begin, accesses_[i].begin, -1, -1, {}});
            } else {
                if (accesses_[i].begin < begin) cut(i++, begin);
                if (accesses_[i].end > end) cut(i, end);
            }
            use(accesses_[i]);
            begin = accesses_[i].end;
        }
        next_ = i;
    }

  private:
    /// The first interval that ends after `unit`.
    std::size_t first_beyond(std::uint64_t unit) const {
        const auto is_it = [&](std::size_t i) {
            return (i == accesses_.size() || accesses_[i].end > unit) &&
                   (i == 0 || accesses_[i - 1].end <= unit);
        };
        if (next_ <= accesses_.size() && is_it(next_)) return next_;
        if (next_ > 0 && is_it(next_ - 1)) return next_ - 1;
        const auto found = std::partition_point(accesses_.begin(), accesses_.end(),
                                                [&](const Access& access) { return access.end <= unit; });
        return static_cast<std::size_t>(found - accesses_.begin());
    }

    void insert(std::size_t at, Access access) {
        accesses_.insert(accesses_.begin() + static_cast<std::ptrdiff_t>(at), std::move(access));
    }

    /// Cuts interval `i` at `unit`, which is inside it.
    void cut(std::size_t i, std::uint64_t unit) {
        Access rest = accesses_[i];
        rest.begin = unit;
        accesses_[i].end = unit;
        insert(i + 1, std::move(rest));
    }

    std::vector<Access> accesses_;
    std::size_t next_ = 0;  // after the last access
};

}  // namespace laple
