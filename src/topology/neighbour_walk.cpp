// SPDX-License-Identifier: BSD-3-Clause
#include "topology/neighbour_walk.hpp"

#include <cstddef>

namespace laple {
namespace {

/// For each position, the last placed one up to it, or -1.
std::vector<int> placed_before(const std::vector<bool>& is_placed) {
    std::vector<int> last(is_placed.size());
    int placed = -1;
    for (std::size_t i = 0; i < is_placed.size(); ++i) {
        if (is_placed[i]) placed = static_cast<int>(i);
        last[i] = placed;
    }
    return last;
}

/// For each position, the first placed one from it on, or -1.
std::vector<int> placed_after(const std::vector<bool>& is_placed) {
    std::vector<int> first(is_placed.size());
    int placed = -1;
    for (std::size_t i = is_placed.size(); i > 0; --i) {
        if (is_placed[i - 1]) placed = static_cast<int>(i - 1);
        first[i - 1] = placed;
    }
    return first;
}

}  // namespace

std::vector<std::pair<int, int>> NeighbourWalk::next(const std::vector<bool>& is_placed) {
    const std::vector<int> before = placed_before(is_placed);
    const std::vector<int> after = placed_after(is_placed);
    std::vector<std::pair<int, int>> pairs;
    const auto ask = [&](std::size_t i, bool is_before) {
        const bool is_first = asked_[i] == Asked::nobody;
        asked_[i] = !is_first ? Asked::both : is_before ? Asked::before : Asked::after;
        const int other = is_before ? before[i] : after[i];
        if (other >= 0) pairs.emplace_back(static_cast<int>(i), other);
    };
    const auto is_nearer_before = [&](std::size_t i) {
        const int place = static_cast<int>(i);
        return before[i] >= 0 && (after[i] < 0 || place - before[i] <= after[i] - place);
    };
    std::size_t run = 0;  // where the present run of nodes that have asked nobody begins
    for (std::size_t i = 0; i <= asked_.size(); ++i) {
        if (i < asked_.size() && !is_placed[i] && asked_[i] == Asked::nobody) continue;
        // Nodes that wait between others that wait have no neighbours yet but the far ones: all the same.
        if (run < i) {
            const std::size_t middle = run + (i - run) / 2;
            ask(middle, is_nearer_before(middle));
        }
        run = i + 1;
        if (i == asked_.size() || is_placed[i]) continue;
        if (asked_[i] == Asked::before) {
            ask(i, false);
        } else if (asked_[i] == Asked::after) {
            ask(i, true);
        }
    }
    return pairs;
}

}  // namespace laple
