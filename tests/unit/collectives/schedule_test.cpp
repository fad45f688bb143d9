// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/schedule/schedule.hpp"

#include <stdexcept>

#include <catch2/catch.hpp>

#include "collectives/algorithms/registry.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/schedule/builder.hpp"
#include "collectives/simulation/simulator.hpp"
#include "collectives/simulation/verifier.hpp"

using namespace laple;

TEST_CASE("segments: sizes at the borders") {
    CHECK(Segments::cut(8, 8, 64).count() == 1);
    CHECK(Segments::cut(9, 8, 64).count() == 2);
    CHECK(Segments::cut(9, 8, 64).at(0) == Segment{0, 8});
    CHECK(Segments::cut(9, 8, 64).at(1) == Segment{8, 1});
    CHECK(Segments::cut(9, 8, 3).count() == 9);  // never less than an element
    CHECK(Segments::cut(9, 8, 0).count() == 1);
    CHECK(Segments::cut(9, 8, 0).segment_bytes() == 72);
    CHECK(Segments::cut(10, 8, 70).units_per_segment == 8);
    CHECK(Segments::cut(3, 8, 1 << 20).segment_bytes() == 24);
    CHECK(Segments::cut(1, 0, 8192).count() == 1);  // of a barrier
}

TEST_CASE("segments cover the message, one after the other") {
    for (const std::uint64_t units : {1u, 7u, 64u, 65u, 1000u}) {
        for (const Bytes segment_bytes : {Bytes{0}, Bytes{4}, Bytes{12}, Bytes{256}, Bytes{5000}}) {
            const Segments segments = Segments::cut(units, 4, segment_bytes);
            std::uint64_t next = 0;
            for (std::uint32_t i = 0; i < segments.count(); ++i) {
                CHECK(segments.at(i).offset == next);
                CHECK(segments.at(i).units > 0);
                CHECK(segments.at(i).units <= segments.units_per_segment);
                next += segments.at(i).units;
            }
            CHECK(next == units);
            CHECK(segments.run(0, segments.count()) == Segment{0, units});
        }
    }
    const Segments three = Segments::cut(9, 8, 32);
    CHECK(three.run(1, 2) == Segment{4, 5});
    CHECK(three.run(2, 5) == Segment{8, 1});
    CHECK(three.run(3, 1).units == 0);
}

TEST_CASE("a message in as many segments as wanted, and never in more than fit into memory") {
    CHECK(Segments::cut_into(10, 8, 3).units_per_segment == 4);
    CHECK(Segments::cut_into(10, 8, 3).count() == 3);
    CHECK(Segments::cut_into(2, 8, 3).count() == 2);
    constexpr std::uint64_t kUnits = std::uint64_t{1} << 31;
    CHECK(Segments::cut(kUnits, 1, 16).count() == Segments::kMost);
    CHECK(Segments::cut(kUnits, 1, 1).count() == Segments::kMost);
    CHECK(Segments::cut(Segments::kMost, 4, 4).count() == Segments::kMost);
    CHECK(Segments::cut(Segments::kMost + 1, 4, 4).count() <= Segments::kMost);
}

TEST_CASE("dependencies follow from the memory that steps touch") {
    ScheduleBuilder builder({1, 20}, {});
    const Buffer temp = builder.add_temporary(10);
    builder.recv(1, {temp, 0, 10});                 // 0
    builder.copy({kInput, 0, 10}, {kResult, 0});    // 1: input and result may be one memory
    builder.reduce({temp, 0, 10}, {kResult, 0});    // 2: after 0 and 1
    builder.recv(1, {temp, 0, 10});                 // 3: into what 2 reads
    builder.send(2, {kResult, 0, 10});              // 4: after 2
    builder.copy({kInput, 10, 10}, {kResult, 10});  // 5: other units
    builder.send(2, {kResult, 9, 2});               // 6: of both
    builder.recv(2, {kResult, 5, 1});               // 7: into what 4 reads, but not 6
    const Schedule schedule = std::move(builder).finish();
    CHECK(describe(schedule) ==
          "0: recv rank 1 -> temp0[0-9]\n"
          "1: copy input[0-9] -> result[0-9]\n"
          "2: reduce temp0[0-9] into result[0-9] after 0 1\n"
          "3: recv rank 1 -> temp0[0-9] after 2\n"
          "4: send result[0-9] -> rank 2 after 2\n"
          "5: copy input[10-19] -> result[10-19]\n"
          "6: send result[9-10] -> rank 2 after 2 5\n"
          "7: recv rank 2 -> result[5] after 4\n");
    CHECK(schedule.temporary_units == std::vector<std::uint64_t>{10});
    CHECK(schedule.result_units == 20);
}

TEST_CASE("an input that lies inside the result is one memory with that part of it") {
    ScheduleBuilder builder({4, 30, 10}, {});
    builder.recv(1, {kResult, 0, 10});
    builder.recv(2, {kResult, 20, 10});
    builder.send(1, {kInput, 0, 10});
    builder.recv(3, {kResult, 15, 10});
    CHECK(describe(std::move(builder).finish()) ==
          "0: recv rank 1 -> result[0-9]\n"
          "1: recv rank 2 -> result[20-29]\n"
          "2: send input[0-9] -> rank 1\n"
          "3: recv rank 3 -> result[15-24] after 2 1\n");
}

TEST_CASE("MPI's own calls wait for all before them, and hold back all after them") {
    ScheduleBuilder builder({1, 8}, {});
    builder.recv(1, {kResult, 0, 4});
    builder.recv(2, {kResult, 4, 4});
    builder.native(StepKind::native_bcast, 0, {kResult, 0, 8}, {kResult, 0});
    builder.send(3, {kInput, 0, 4});
    CHECK(describe(std::move(builder).finish()) ==
          "0: recv rank 1 -> result[0-3]\n"
          "1: recv rank 2 -> result[4-7]\n"
          "2: native bcast from rank 0 after 0 1\n"
          "3: send input[0-3] -> rank 3 after 2\n");
}

TEST_CASE("at most a window of messages to one peer is under way") {
    ScheduleBuilder builder({1, 5}, {.between_clusters = 2});
    CHECK(builder.window() == 2);
    for (std::uint64_t unit = 0; unit < 5; ++unit) builder.send(1, {kResult, unit, 1});
    builder.send(1, {kResult, 0, 1}, 1);
    const Schedule schedule = std::move(builder).finish();
    CHECK(schedule.steps[1].dependency_count == 0);
    CHECK(schedule.dependencies_of(schedule.steps[2])[0] == 0);
    CHECK(schedule.dependencies_of(schedule.steps[4])[0] == 2);
    CHECK(schedule.steps[3].next_in_channel == 4);
    CHECK(schedule.steps[4].next_in_channel == -1);
    CHECK(schedule.steps[0].is_first_in_channel);
    CHECK_FALSE(schedule.steps[4].is_first_in_channel);
    // Another channel.
    CHECK(schedule.steps[5].dependency_count == 0);
    CHECK(schedule.steps[5].is_first_in_channel);
}

TEST_CASE("near ranks have a window of their own, for what is sent to them") {
    ScheduleBuilder builder({1, 8}, {.between_clusters = 4, .in_cluster = 1, .cluster_ranks = {7, 3}});
    for (const Rank peer : {3, 5}) {
        builder.send(peer, {kInput, 0, 1});
        builder.send(peer, {kInput, 1, 1});
    }
    CHECK(describe(std::move(builder).finish()) ==
          "0: send input[0] -> rank 3\n"
          "1: send input[1] -> rank 3 after 0\n"
          "2: send input[0] -> rank 5\n"
          "3: send input[1] -> rank 5\n");
}

TEST_CASE("sends are held until a step is complete, those to near ranks until another one, too") {
    constexpr Rank kNear = 1;
    constexpr Rank kFar = 2;
    ScheduleBuilder builder({1, 3}, {.between_clusters = 8, .in_cluster = 8, .cluster_ranks = {0, kNear}});
    CHECK(builder.last_receive_in_cluster() == -1);
    CHECK(builder.writer_of({kResult, 0}) == -1);
    const Buffer temp = builder.add_temporary(3);
    builder.recv(kNear, {temp, 0, 1});
    builder.recv(kFar, {kResult, 0, 1});
    CHECK(builder.last_receive_in_cluster() == 0);
    CHECK(builder.writer_of({kResult, 0}) == 1);
    builder.hold_sends(builder.last_receive_in_cluster(), builder.writer_of({kResult, 0}));
    builder.send(kNear, {kInput, 1, 1});
    builder.send(kFar, {kInput, 1, 1});
    builder.recv(kNear, {temp, 2, 1});
    builder.hold_sends(-1, -1);
    builder.send(kNear, {kInput, 1, 1});
    builder.send(kFar, {kInput, 1, 1});
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
    const Machine machine(Topology::from_clusters(6, {{0, 1, 2}, {3, 4, 5}}));
    const Plan plan{
        {Collective::reduce, 40, 1, 0, true}, parse_algorithm("flat/chain@16", Collective::reduce), ""};
    const auto good = expand_all(plan, machine);
    REQUIRE(verify(good, plan.request, machine, 1, false).empty());

    const auto broken = [&](auto change) {
        auto schedules = good;
        change(schedules);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const std::string wrong = verify(schedules, plan.request, machine, seed, false);
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
    // A message to the wrong rank, a reduction left out, a dependency lost, a segment mistaken, a receive too
    // few.
    CHECK_FALSE(broken([&](auto& s) { first(s[2], StepKind::send).peer = 0; }).empty());
    CHECK_FALSE(broken([&](auto& s) { first(s[0], StepKind::reduce).kind = StepKind::copy; }).empty());
    CHECK_FALSE(broken([&](auto& s) { first(s[1], StepKind::reduce).dependency_count = 0; }).empty());
    CHECK_FALSE(broken([&](auto& s) { first(s[2], StepKind::send).from.offset = 1; }).empty());
    CHECK_FALSE(broken([&](auto& s) { s[0].steps.pop_back(); }).empty());
    // One unit less, another channel, the input overwritten.
    CHECK_FALSE(broken([&](auto& s) { --first(s[2], StepKind::send).units; }).empty());
    CHECK_FALSE(broken([&](auto& s) { ++first(s[2], StepKind::send).channel; }).empty());
    CHECK_FALSE(broken([&](auto& s) { first(s[0], StepKind::recv).to = {kInput, 0}; }).empty());
}

TEST_CASE("messages of a channel are received in the order in which they are sent, whatever links they pass",
          "[simulator]") {
    const BufferSizes sizes{1, 200, 0};
    ScheduleBuilder sender(sizes, {});
    ScheduleBuilder receiver(sizes, {});
    std::uint64_t offset = 0;
    for (const std::uint64_t units : {90u, 90u, 20u}) {
        sender.send(1, {kResult, offset, units});
        receiver.recv(0, {kResult, offset, units});
        offset += units;
    }
    const std::vector<Schedule> schedules{std::move(sender).finish(), std::move(receiver).finish()};
    SimulatedNetwork network;
    network.gap = [](Rank, Rank, Bytes bytes) { return Seconds(static_cast<double>(bytes) * 1e-6); };
    network.latency = [](Rank, Rank) { return Seconds(1e-3); };
    network.port_count = 2;
    network.port_out = [](Rank from, Rank) { return static_cast<std::size_t>(from); };
    network.port_in = [](Rank, Rank to) { return static_cast<std::size_t>(to); };
    // Only the long ones wait for it: the short one is there before the second of them.
    network.shared_links = [](Rank, Rank, Bytes bytes) {
        std::vector<SimulatedNetwork::SharedLink> links;
        if (bytes > 50) links.push_back({0, Seconds(1)});
        return links;
    };
    SimulationOptions options;
    options.network = network;
    const SimulationResult result = simulate(schedules, Machine(Topology::flat(2)), nullptr, options);
    CHECK(result.failure == "");
    CHECK(result.makespan.count() == Approx(2.001).epsilon(0.01));
}
