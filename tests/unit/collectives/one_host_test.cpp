// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/one_host.hpp"

#include <catch2/catch.hpp>

#include "collectives/planner/planner.hpp"

using namespace laple;

namespace {

constexpr double kLatency = 1e-6;
constexpr double kGap = 0.2e-6;
constexpr double kRate = 8e9;  // bytes a second of a copy

/// One cluster, whose memory was measured, if `is_measured`.
MachineCosts costs_with(bool is_measured) {
    const auto time = [](double bytes) { return Seconds(kGap + bytes / kRate); };
    LinkModel model;
    model.clusters.resize(1);
    model.clusters[0].nic_out = model.clusters[0].nic_in = 125e6;
    model.clusters[0].reduction = 1e-10;
    model.job.ranks = 8;
    for (const char* name : {"bcast", "reduce", "allreduce"})
        model.job.times[name] = Curve({{8, Seconds(5e-6)}, {1 << 20, Seconds(10e-3)}});
    if (is_measured) {
        const Curve gap({{0, time(0)}, {65536, time(65536)}, {131072, time(131072)}});
        model.job.memory = {Seconds(kLatency), {}, {}, gap, gap, {}, {}};
    }
    return costs_of(model, {{Seconds(20e-6)}});
}

const Machine kOneHost(Topology::flat(8), std::vector<int>(8, 0));

Plan plan_of(Collective collective, std::uint64_t bytes) {
    Machine machine = kOneHost;
    MachineCosts costs = costs_with(true);
    take_ranks_for_hosts(machine, costs);
    return choose_plan({collective, bytes, 1, 0, true}, machine, {}, costs);
}

}  // namespace

TEST_CASE("on one host ranks take the places of hosts, and memory that of the network", "[one-host]") {
    Machine machine = kOneHost;
    MachineCosts costs = costs_with(true);
    take_ranks_for_hosts(machine, costs);
    CHECK(machine.host_count() == 8);
    CHECK(costs.cluster(0).nic_out == 0);
    CHECK(costs.cluster(0).reduction == 1e-10);
    CHECK(costs.link(0, 0).latency == kLatency);
    CHECK(costs.job.ranks == 8);
}

TEST_CASE("where only single messages through memory were measured, others take as long", "[one-host]") {
    LinkModel model;
    model.clusters.resize(1);
    model.job.ranks = 8;
    model.job.memory.latency = Seconds(kLatency);
    model.job.memory.gap = Curve({{0, Seconds(kGap)}, {65536, Seconds(1e-4)}});
    const MachineCosts costs = costs_of(model, {{Seconds(20e-6)}});
    CHECK(costs.cluster(0).memory.stream.at(65536) == Seconds(1e-4));
}

TEST_CASE("without a measurement of memory nothing is known of one host", "[one-host]") {
    Machine machine = kOneHost;
    MachineCosts costs = costs_with(false);
    take_ranks_for_hosts(machine, costs);
    CHECK(costs.is_empty());
}

TEST_CASE("several hosts stay what they are", "[one-host]") {
    Machine machine(Topology::flat(8), {0, 0, 0, 0, 1, 1, 1, 1});
    MachineCosts costs = costs_with(true);
    take_ranks_for_hosts(machine, costs);
    CHECK(machine.host_count() == 2);
    CHECK(costs.cluster(0).nic_out == 125e6);
    CHECK(costs.cluster(0).is_memory_known);
    CHECK(costs.cluster(0).memory.latency == kLatency);
}

TEST_CASE("costs of memory pass as numbers", "[one-host]") {
    const MachineCosts costs = costs_with(true);
    const MachineCosts there = MachineCosts::from_numbers(costs.numbers());
    CHECK(there.cluster(0).is_memory_known);
    CHECK(there.cluster(0).memory.latency == kLatency);
    CHECK(there.cluster(0).memory.gap == costs.cluster(0).memory.gap);
    CHECK(there.cluster(0).memory.stream == costs.cluster(0).memory.stream);
}

TEST_CASE("what goes to all ranks of a host is copied in once", "[one-host]") {
    // Seven messages of 64 KiB one after the other would take 57 us.
    const Plan plan = plan_of(Collective::bcast, 65536);
    CHECK_FALSE(plan.is_native());
    CHECK(plan.predicted.count() < 3 * 65536 / kRate);
}

TEST_CASE("to begin an operation takes as long as a round of MPI's own barrier", "[one-host]") {
    Machine machine = kOneHost;
    MachineCosts costs = costs_with(true);
    costs.job.times["barrier"] = Curve({{0, Seconds(30e-6)}});
    take_ranks_for_hosts(machine, costs);
    CHECK(costs.rank_delay == Approx(10e-6));
}

TEST_CASE("short calls on one host are MPI's own where nothing is clearly faster", "[one-host]") {
    CHECK(plan_of(Collective::allreduce, 8).is_native());
    CHECK_FALSE(plan_of(Collective::allreduce, 1 << 20).is_native());
}

TEST_CASE("the root of a broadcast copies in only, its receivers copy out only", "[one-host]") {
    // A gap is that of messages both ways: each way takes half of it.
    constexpr double kBytes = 8 << 20;
    const Plan plan = plan_of(Collective::bcast, 8 << 20);
    CHECK(plan.predicted.count() > 0.5 * kBytes / kRate);
    CHECK(plan.predicted.count() < 0.7 * kBytes / kRate);
}
