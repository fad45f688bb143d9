// SPDX-License-Identifier: BSD-3-Clause
#include "topology/neighbour_walk.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using laple::NeighbourWalk;

namespace {

using Pairs = std::vector<std::pair<int, int>>;

/// Walks to the end; every node that meets one of its own cluster is placed. How many turns that takes.
int walk(const std::vector<int>& cluster_of, std::vector<bool>& is_placed, Pairs& all) {
    NeighbourWalk walk(cluster_of.size());
    for (int turns = 0;; ++turns) {
        const Pairs pairs = walk.next(is_placed);
        if (pairs.empty()) return turns;
        all.insert(all.end(), pairs.begin(), pairs.end());
        for (const auto& [waiting, placed] : pairs) {
            REQUIRE(is_placed[static_cast<std::size_t>(placed)]);
            const auto of = [&](int node) { return cluster_of[static_cast<std::size_t>(node)]; };
            if (of(waiting) == of(placed)) is_placed[static_cast<std::size_t>(waiting)] = true;
        }
    }
}

}  // namespace

TEST_CASE("A run is halved at every turn, and nobody meets many", "[neighbour_walk]") {
    const std::vector<int> cluster_of(129, 0);
    std::vector<bool> is_placed(129, false);
    is_placed.front() = is_placed.back() = true;
    Pairs all;
    CHECK(walk(cluster_of, is_placed, all) == 7);  // log2(128)
    CHECK(std::count(is_placed.begin(), is_placed.end(), true) == 129);
    CHECK(all.size() == 127);
    std::map<int, int> meetings;
    for (const auto& [waiting, placed] : all) ++meetings[placed];
    for (const auto& [node, count] : meetings) CHECK(count <= 2 * 7);
}

TEST_CASE("Who belongs to the other side gets there, and strangers have met both", "[neighbour_walk]") {
    // Two clusters whose border lies off the middle, and a stranger in each.
    std::vector<int> cluster_of(40, 1);
    std::fill(cluster_of.begin(), cluster_of.begin() + 31, 0);
    cluster_of[12] = 7;
    cluster_of[35] = 8;
    std::vector<bool> is_placed(40, false);
    is_placed[0] = is_placed[39] = true;
    Pairs all;
    walk(cluster_of, is_placed, all);
    for (std::size_t node = 0; node < 40; ++node) {
        CAPTURE(node);
        CHECK(is_placed[node] == (node != 12 && node != 35));
    }
    for (const int stranger : {12, 35})
        CHECK(std::count_if(all.begin(), all.end(),
                            [&](const auto& pair) { return pair.first == stranger; }) == 2);
}

TEST_CASE("Without anybody placed nobody meets; at an end there is one side only", "[neighbour_walk]") {
    Pairs all;
    std::vector<bool> none(5, false);
    CHECK(walk({0, 0, 0, 0, 0}, none, all) == 0);
    CHECK(all.empty());
    std::vector<bool> last{false, false, true};
    walk({0, 0, 1}, last, all);
    CHECK(all == Pairs{{1, 2}, {0, 2}});
    CHECK(NeighbourWalk(0).next({}).empty());
}
