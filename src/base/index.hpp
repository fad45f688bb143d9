// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

namespace laple {

/// A rank, host, cluster, ... as an index; never negative.
constexpr std::size_t at(int number) {
    return static_cast<std::size_t>(number);
}

/// 0, 1, ..., count - 1.
inline std::vector<int> all_below(std::size_t count) {
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

/// The indices of keys that are equal, ascending; such groups in the order of their first indices.
template <typename Key>
std::vector<std::vector<int>> grouped(const std::vector<Key>& keys) {
    std::vector<std::vector<int>> groups;
    std::map<Key, std::size_t> known;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto [group, is_new] = known.try_emplace(keys[i], groups.size());
        if (is_new) groups.emplace_back();
        groups[group->second].push_back(static_cast<int>(i));
    }
    return groups;
}

/// Of `count` members of disjoint groups the number of each one's group.
inline std::vector<int> group_of_each(const std::vector<std::vector<int>>& groups, std::size_t count) {
    std::vector<int> group_of(count);
    for (std::size_t group = 0; group < groups.size(); ++group) {
        for (const int member : groups[group]) group_of[at(member)] = static_cast<int>(group);
    }
    return group_of;
}

}  // namespace laple
