// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/slowness_watch.hpp"

#include <vector>

#include <catch2/catch.hpp>

using laple::Seconds;
using laple::SlownessWatch;

TEST_CASE("what most calls took counts") {
    SlownessWatch watch;
    for (int i = 0; i < SlownessWatch::kWindow; ++i) watch.add(Seconds(0.01), Seconds(i % 3 == 0 ? 5 : 0.02));
    CHECK(watch.ratios()[0] == Approx(500));
    CHECK(SlownessWatch::typical(watch.ratios()) == Approx(2));
}

TEST_CASE("ranks compare at the same calls, once in a while") {
    SlownessWatch watch;
    std::vector<int> due;
    for (int call = 1; call <= 3000; ++call) {
        if (watch.add(Seconds(0.01), Seconds(0.01))) due.push_back(call);
    }
    CHECK(due == std::vector<int>{64, 1088, 2112});
}

TEST_CASE("a window forgets the one before, and what lies between") {
    SlownessWatch watch;
    for (int call = 1; call <= SlownessWatch::kEvery; ++call) watch.add(Seconds(0.01), Seconds(0.01));
    CHECK(SlownessWatch::typical(watch.ratios()) == Approx(1));
    for (int call = 1; call <= SlownessWatch::kWindow; ++call) watch.add(Seconds(0.01), Seconds(0.1));
    CHECK(SlownessWatch::typical(watch.ratios()) == Approx(10));
}
