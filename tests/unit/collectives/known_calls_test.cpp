// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/known_calls.hpp"

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/planner/planner.hpp"
#include "collectives/planner/trials.hpp"
#include "unit/collectives/some_costs.hpp"

using namespace laple;

namespace {

const Machine kSites(Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}}));

CallTime call(const std::string& algorithm, double time, Bytes bytes = 65536) {
    return {"bcast", bytes, 0, algorithm, std::vector<Seconds>(3, Seconds(time)), Seconds(1)};
}

}  // namespace

TEST_CASE("what earlier jobs have found best is chosen", "[known_calls]") {
    std::mt19937_64 random(3);
    MachineCosts costs = test::random_costs(2, random);
    const Request request = request_for(Collective::bcast, 66000);
    const auto names = [&](const Request& of) {
        std::vector<std::string> all;
        for (const Plan& plan : plans_to_try(of, kSites, {}, costs)) all.push_back(plan.algorithm->name());
        return all;
    };
    const std::vector<std::string> before = names(request);
    REQUIRE(before.size() >= 2);
    const std::string other = before[1];
    costs.job.ranks = 8;
    costs.job.calls = {call(other, 0.5), call(before[0], 0.7)};

    const std::vector<Plan> plans = plans_to_try(request, kSites, {}, costs);
    CHECK(plans[0].algorithm->name() == other);
    CHECK(plans[0].predicted == Seconds(0.5));
    CHECK(plans[0].tried.size() == 3);
    CHECK(choose_plan(request, kSites, {}, costs).algorithm->name() == other);
    for (const Plan& plan : plans) {
        if (plan.algorithm->name() == before[0]) CHECK(plan.predicted == Seconds(0.7));
    }
    // Not for other calls, nor against rules.
    CHECK(names(request_for(Collective::bcast, 66000, 5)) != names(request));
    CHECK(names(request_for(Collective::bcast, 600000)).front() != other);
    const Rules rules = parse_rules("^" + other);
    CHECK(choose_plan(request, kSites, rules, costs).algorithm->name() == before[0]);
    // Nor in a job with other ranks.
    costs.job.ranks = 7;
    CHECK(names(request) == before);
    costs.job.ranks = 8;
    // A name that is not proposed here means nothing.
    costs.job.calls = {call("no-such-thing", 0.1)};
    CHECK(names(request) == before);
}

TEST_CASE("the unknown is compared by predictions, in proportion", "[known_calls]") {
    std::mt19937_64 random(3);
    MachineCosts costs = test::random_costs(2, random);
    const Request request = request_for(Collective::bcast, 66000);
    const std::vector<Plan> before = plans_to_try(request, kSites, {}, costs);
    costs.job.ranks = 8;
    const double native = before.back().predicted / before.front().predicted;
    REQUIRE(before.back().is_native());
    REQUIRE(native > Trials::kWorthTrying);
    for (const double factor : {0.9 * native, 1.1 * native}) {
        costs.job.calls = {call(before[0].algorithm->name(), factor * before[0].predicted.count())};
        const std::vector<Plan> plans = plans_to_try(request, kSites, {}, costs);
        REQUIRE(plans.size() == before.size());
        for (std::size_t i = 0; i + 1 < plans.size(); ++i)
            CHECK(plans[i].predicted.count() == Approx(factor * before[i].predicted.count()));
        // MPI's own call shall be tried where others take longer than it is predicted to.
        const double of_native = factor < native ? factor : 1;
        CHECK(plans.back().predicted.count() == Approx(of_native * before.back().predicted.count()));
        CHECK(plans.front().native.count() == Approx(of_native * before.front().native.count()));
    }
}

TEST_CASE("slow calls by MPI tell nothing of others", "[known_calls]") {
    std::mt19937_64 random(3);
    MachineCosts costs = test::random_costs(2, random);
    const Request request = request_for(Collective::bcast, 66000);
    const std::vector<Plan> before = plans_to_try(request, kSites, {}, costs);
    const auto predicted = [](const std::vector<Plan>& plans, const std::string& name) {
        for (const Plan& plan : plans) {
            if (plan.algorithm->name() == name) return plan.predicted;
        }
        return Seconds(0);
    };
    REQUIRE_FALSE(before[0].is_native());
    const std::string best = before[0].algorithm->name();
    costs.job.ranks = 8;
    costs.job.calls = {call("native", 2 * before[0].predicted.count())};
    std::vector<Plan> plans = plans_to_try(request, kSites, {}, costs);
    CHECK(plans[0].algorithm->name() == best);
    CHECK(plans[0].predicted == before[0].predicted);
    CHECK(plans[0].native == 2 * before[0].predicted);
    CHECK(plans[0].is_native_measured);
    CHECK(predicted(plans, "native") == 2 * before[0].predicted);
    // Once others were tried, it is decided by what they took.
    costs.job.calls.push_back(call(best, 3 * before[0].predicted.count()));
    CHECK(choose_plan(request, kSites, {}, costs).is_native());
}

TEST_CASE("trials become calls, the best one first", "[known_calls]") {
    std::mt19937_64 random(3);
    const MachineCosts costs = test::random_costs(2, random);
    const std::vector<Plan> plans = plans_to_try(request_for(Collective::bcast, 65536), kSites, {}, costs);
    REQUIRE(plans.size() >= 2);
    std::vector<Trials::Tried> tried;
    for (const Plan& plan : plans) tried.push_back({plan.predicted, {}});
    tried[0].times = {Seconds(1)};
    tried[1].times = {Seconds(0.5)};
    const Trials trials(tried, {Seconds(1), Seconds(1), Seconds(0)});
    const std::vector<CallTime> calls = calls_by_trial(plans, trials);
    REQUIRE(calls.size() == 2);
    CHECK(calls[0].algorithm == plans[0].algorithm->name());  // once is not enough to change
    CHECK(calls[1].algorithm == plans[1].algorithm->name());
    CHECK(calls[0].bytes == 65536);

    // One that was compared with none is not kept, or later jobs would go by it whatever they measure.
    tried[1].times.clear();
    CHECK(calls_by_trial(plans, Trials(tried, {Seconds(1), Seconds(1), Seconds(0)})).empty());
}

TEST_CASE("newer times come first and take the place of older ones", "[known_calls]") {
    std::vector<CallTime> known{call("ring", 1), call("native", 2), call("ring", 3, 8)};
    std::vector<CallTime> anew{call("native", 4), call("two-tree@8K", 5)};
    anew[0].predicted = Seconds(9);
    add_calls(anew, known);
    REQUIRE(known.size() == 4);
    CHECK(known[0].algorithm == "native");
    CHECK(usual_time(known[0]) == Seconds(4));
    CHECK(known[0].predicted == Seconds(1));  // what was predicted before it was tried at all
    CHECK(known[1].algorithm == "two-tree@8K");
    CHECK(known[2].algorithm == "ring");
    CHECK(known[3].bytes == 8);
    for (Bytes bytes = 0; bytes < 1000; ++bytes) add_calls({call("ring", 1, 1000 + bytes)}, known);
    CHECK(known.size() == 300);
    CHECK(known[0].bytes == 1999);
}

TEST_CASE("in one job what was timed more often counts", "[known_calls]") {
    std::vector<CallTime> calls{call("ring", 1), call("native", 2)};
    CallTime once = call("native", 2);
    once.times.resize(1);
    gather_calls({once}, calls);
    CHECK(calls[0].algorithm == "ring");
    CHECK(calls[1].times.size() == 3);
    CallTime often = call("native", 0.5);
    often.times.resize(7, Seconds(0.5));
    gather_calls({often}, calls);
    CHECK(calls[0].algorithm == "native");
    CHECK(calls[0].times.size() == 7);
    gather_calls({call("ring", 1, 8)}, calls);
    CHECK(calls.size() == 3);
}
