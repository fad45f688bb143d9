// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/schedule.hpp"

#include <catch2/catch.hpp>

#include "collectives/plan.hpp"
#include "collectives/verifier.hpp"

using namespace laple;

TEST_CASE("blocks: sizes at the borders") {
    CHECK(Blocks::cut(0, 8, 64).count() == 1);
    CHECK(Blocks::cut(0, 8, 64).bytes_in(0) == 0);
    CHECK(Blocks::cut(8, 8, 64).count() == 1);
    CHECK(Blocks::cut(9, 8, 64).count() == 2);
    CHECK(Blocks::cut(9, 8, 64).bytes_in(0) == 64);
    CHECK(Blocks::cut(9, 8, 64).bytes_in(1) == 8);
    CHECK(Blocks::cut(9, 8, 3).count() == 9);  // never less than an element
    CHECK(Blocks::cut(9, 8, 0).count() == 1);
    CHECK(Blocks::cut(10, 8, 70).units_per_block == 8);
}

TEST_CASE("dependencies follow from the memory that steps touch") {
    ScheduleBuilder builder(Blocks::cut(2, 1, 1), 8);
    const std::uint32_t temp = builder.add_temporary(1);
    builder.recv(1, 0, builder.at(temp, 0));               // 0
    builder.copy(0, {kInput, 0}, {kResult, 0});            // 1
    builder.reduce(0, builder.at(temp, 0), {kResult, 0});  // 2: after 0 and 1
    builder.recv(1, 1, builder.at(temp, 1));               // 3: reuses the slot that 2 reads
    builder.send(2, 0, {kResult, 0});                      // 4: after 2
    builder.copy(1, {kInput, 1}, {kResult, 1});            // 5: another block
    const Schedule schedule = std::move(builder).finish();
    CHECK(describe(schedule) ==
          "0: recv rank 1 -> temp0[0]\n"
          "1: copy input[0] -> result[0]\n"
          "2: reduce temp0[0] into result[0] after 0 1\n"
          "3: recv rank 1 -> temp0[0] after 2\n"
          "4: send result[0] -> rank 2 after 2\n"
          "5: copy input[1] -> result[1]\n");
}

TEST_CASE("at most a window of messages to one peer is under way") {
    ScheduleBuilder builder(Blocks::cut(5, 1, 1), 2);
    for (std::uint32_t block = 0; block < 5; ++block) builder.send(1, block, {kResult, block});
    const Schedule schedule = std::move(builder).finish();
    CHECK(schedule.steps[1].dependency_count == 0);
    CHECK(schedule.dependencies_of(schedule.steps[2])[0] == 0);
    CHECK(schedule.dependencies_of(schedule.steps[4])[0] == 2);
    CHECK(schedule.steps[3].next_in_channel == 4);
    CHECK(schedule.steps[0].is_first_in_channel);
}

TEST_CASE("sends are held until a step is complete, those to near ranks until another one, too") {
    constexpr Rank kNear = 1;
    constexpr Rank kFar = 2;
    ScheduleBuilder builder(Blocks::cut(3, 1, 1), 8);
    builder.set_near({0, kNear}, 8);
    CHECK(builder.last_near_receive() == -1);
    CHECK(builder.writer_of({kResult, 0}) == -1);
    const std::uint32_t temp = builder.add_temporary(3);
    builder.recv(kNear, 0, builder.at(temp, 0));
    builder.recv(kFar, 0, {kResult, 0});
    CHECK(builder.last_near_receive() == 0);
    CHECK(builder.writer_of({kResult, 0}) == 1);
    builder.hold_sends(builder.last_near_receive(), builder.writer_of({kResult, 0}));
    builder.send(kNear, 1, {kInput, 1});
    builder.send(kFar, 1, {kInput, 1});
    builder.recv(kNear, 1, builder.at(temp, 2));
    builder.hold_sends(-1, -1);
    builder.send(kNear, 1, {kInput, 1});
    builder.send(kFar, 1, {kInput, 1});
    CHECK(describe(std::move(builder).finish()) ==
          "0: recv rank 1 -> temp0[0]\n"
          "1: recv rank 2 -> result[0]\n"
          "2: send input[1] -> rank 1 after 1 0\n"
          "3: send input[1] -> rank 2 after 1\n"
          "4: recv rank 1 -> temp0[2]\n"
          "5: send input[1] -> rank 1\n"
          "6: send input[1] -> rank 2\n");
}

TEST_CASE("the verifier catches what is broken by hand") {
    const Topology topology = Topology::from_clusters(6, {{0, 1, 2}, {3, 4, 5}});
    const Plan plan{
        {Collective::reduce, 40, 1, 0, true}, parse_algorithm("flat/chain@16", Collective::reduce), ""};
    const auto good = expand_all(plan, topology);
    REQUIRE(verify(good, plan, topology, 1, false).empty());

    const auto broken = [&](auto change) {
        auto schedules = good;
        change(schedules);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const std::string wrong = verify(schedules, plan, topology, seed, false);
            if (!wrong.empty()) return wrong;
        }
        return std::string{};
    };
    const auto first = [](Schedule& schedule, StepKind kind) -> Step& {
        for (Step& step : schedule.steps) {
            if (step.kind == kind) return step;
        }
        throw std::logic_error("no such step");
    };
    // A message to the wrong rank, a reduction left out, a dependency lost, a block mistaken, a receive too
    // few.
    CHECK_FALSE(broken([&](auto& s) { first(s[2], StepKind::send).peer = 0; }).empty());
    CHECK_FALSE(broken([&](auto& s) { first(s[0], StepKind::reduce).kind = StepKind::copy; }).empty());
    CHECK_FALSE(broken([&](auto& s) { first(s[1], StepKind::reduce).dependency_count = 0; }).empty());
    CHECK_FALSE(broken([&](auto& s) { first(s[2], StepKind::send).from.slot = 1; }).empty());
    CHECK_FALSE(broken([&](auto& s) { s[0].steps.pop_back(); }).empty());
}
