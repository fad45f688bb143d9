// SPDX-License-Identifier: BSD-3-Clause
#include "base/probe_rounds.hpp"

#include <set>
#include <utility>

#include <catch2/catch.hpp>

using laple::partner;
using laple::probe_round_count;

TEST_CASE("rounds are as many as they must be", "[probe_rounds]") {
    CHECK(probe_round_count(0) == 0);
    CHECK(probe_round_count(1) == 0);
    CHECK(probe_round_count(2) == 1);
    CHECK(probe_round_count(3) == 3);
    CHECK(probe_round_count(16) == 15);
    CHECK(probe_round_count(17) == 17);
}

TEST_CASE("in each round, pairs are disjoint and agree", "[probe_rounds]") {
    const int n = GENERATE(range(2, 66), values({100, 255, 256}));
    int disagreements = 0;
    int idle = 0;
    for (int round = 0; round < probe_round_count(n); ++round) {
        for (int i = 0; i < n; ++i) {
            const int other = partner(i, round, n);
            if (other == -1) {
                ++idle;
            } else if (other < 0 || other >= n || other == i || partner(other, round, n) != i) {
                ++disagreements;
            }
        }
    }
    CHECK(disagreements == 0);
    CHECK(idle == (n % 2 == 0 ? 0 : n));
}

TEST_CASE("over all rounds, every pair meets once", "[probe_rounds]") {
    const int n = GENERATE(range(2, 66), values({100, 255, 256}));
    std::multiset<std::pair<int, int>> met;
    for (int round = 0; round < probe_round_count(n); ++round) {
        for (int i = 0; i < n; ++i) {
            if (const int other = partner(i, round, n); other > i) met.emplace(i, other);
        }
    }
    const std::set<std::pair<int, int>> different(met.begin(), met.end());
    CHECK(met.size() == static_cast<std::size_t>(n * (n - 1) / 2));
    CHECK(different.size() == met.size());
}

TEST_CASE("many nodes do not overflow", "[probe_rounds]") {
    const int n = 100'000;
    const int middle = partner(n - 1, n - 2, n);
    CHECK(partner(middle, n - 2, n) == n - 1);
}
