// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/job_times.hpp"

#include <catch2/catch.hpp>

using namespace laple;

TEST_CASE("what other jobs have kept while one measured stays", "[plogp]") {
    JobTimes before;
    before.ranks = 4;
    before.allowance = Seconds(2);
    before.calls = {{"bcast", 8, 0, "ecef/flat", {Seconds(1)}, Seconds(1)}};
    JobTimes kept = before;
    kept.allowance = Seconds(3);  // a long job has ended
    kept.calls.push_back({"reduce", 8, 0, "ecef/flat", {Seconds(2)}, Seconds(1)});
    JobTimes mine = before;
    mine.allowance = Seconds(0.5);
    mine.times["bcast"].set(8, Seconds(1));

    mine.add_what_others_kept(before, kept);
    CHECK(mine.allowance == Seconds(1.5));
    CHECK(mine.calls == kept.calls);
    CHECK(mine.times.size() == 1);

    SECTION("what two have spent at the same time is not owed") {
        kept.allowance = Seconds(0.5);
        mine.allowance = Seconds(0.5);
        mine.add_what_others_kept(before, kept);
        CHECK(mine.allowance == Seconds(0));
    }
    SECTION("there were no ranks when it began") {
        JobTimes first;
        first.add_what_others_kept({}, kept);
        CHECK(first.ranks == 4);
        CHECK(first.calls == kept.calls);
    }
}
