// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/trial_summary.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/planner/planner.hpp"
#include "unit/collectives/some_costs.hpp"

using namespace laple;
using Catch::Contains;

namespace {

const Machine kSites(Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}}));

/// Two plans for calls of 64 KiB, both predicted to take 10 ms.
std::vector<Plan> two_plans(int root = 0) {
    std::vector<Plan> plans = plans_to_try(request_for(Collective::bcast, 65536, root), kSites, {},
                                           test::uniform_costs(2, Seconds(5e-3), 1e8));
    REQUIRE(plans.size() >= 2);
    plans.resize(2);
    for (Plan& plan : plans) plan.predicted = Seconds(10e-3);
    return plans;
}

/// `calls` calls, of which those by plan i take times[i].
Trials tried(const std::vector<Seconds>& times, int calls, bool is_for_later = false) {
    Trials trials({{Seconds(10e-3), {}}, {Seconds(10e-3), {}}},
                  {Seconds(1e-4), Seconds(1e-4), Seconds(0), is_for_later});
    for (int i = 0; i < calls; ++i) {
        const Trials::Turn turn = trials.next(Seconds(i));
        if (turn.beside > 0) {
            trials.add(times[turn.beside]);
        } else if (turn.is_timed) {
            trials.add(times[turn.plan]);
        }
        if (trials.is_round_over()) trials.conclude(trials.times());
    }
    return trials;
}

}  // namespace

TEST_CASE("a summary of trials shows the plan before and after, predicted and measured", "[trial_summary]") {
    const std::vector<Plan> plans = two_plans();
    TrialSummary summary;
    CHECK(summary.text().empty());
    summary.add(plans, tried({Seconds(20e-3), Seconds(10e-3)}, 1));
    CHECK(summary.text().empty());  // nothing was tried yet
    TrialSummary early;
    early.add(plans, tried({Seconds(20e-3), Seconds(10e-3)}, 6));
    CHECK_THAT(early.text(), Contains("not decided yet") && !Contains("kept"));

    summary.add(plans, tried({Seconds(20e-3), Seconds(10e-3)}, 2000));
    const std::string text = summary.text();
    INFO(text);
    CHECK_THAT(text, Contains("Trials of other plans took"));
    CHECK_THAT(text, Contains("bcast"));
    CHECK_THAT(text, Contains("64K"));
    const std::size_t before = text.find(plans[0].algorithm->name());
    const std::size_t after = text.find(plans[1].algorithm->name(), before + 1);
    REQUIRE(before != std::string::npos);
    REQUIRE(after != std::string::npos);
    CHECK_THAT(text.substr(before, after - before), Contains("10.0 ms") && Contains("20.0 ms"));
    CHECK_THAT(text.substr(after), Contains("faster: used"));
}

TEST_CASE("a summary of trials says what is kept, and what is for the next job", "[trial_summary]") {
    TrialSummary summary;
    summary.add(two_plans(), tried({Seconds(10e-3), Seconds(20e-3)}, 2000));
    CHECK_THAT(summary.text(), Contains("kept") && !Contains("faster"));

    TrialSummary later;
    later.add(two_plans(3), tried({Seconds(20e-3), Seconds(10e-3)}, 5000, true));
    CHECK_THAT(later.text(), Contains("root 3") && Contains("faster: for the next job"));
}

TEST_CASE("of several communicators, the trials of the longer calls are shown once", "[trial_summary]") {
    const std::vector<Plan> plans = two_plans();
    TrialSummary one;
    one.add(plans, tried({Seconds(10e-3), Seconds(20e-3)}, 2000));
    TrialSummary other;
    other.add(plans, tried({Seconds(20e-3), Seconds(10e-3)}, 5000));

    TrialSummary both = one;
    both.add(other);
    CHECK_THAT(both.text(), Contains("faster: used") && !Contains("kept"));
    other.add(one);
    CHECK_THAT(other.text(), Contains("faster: used") && !Contains("kept"));
}
