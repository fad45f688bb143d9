// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/planner.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;

namespace {

const Machine kThreeClusters(Topology::from_clusters(6, {{0, 1}, {2, 3}, {4, 5}}));

}  // namespace

TEST_CASE("in segments, each cluster gets one before one gets its second, at a pace", "[exchange]") {
    Plan plan{request_for(Collective::allgather, 3000),
              parse_algorithm("multi-leader-exchange@1000", Collective::allgather), ""};
    plan.windows.pace = {1e-6, 1e-6, 1e-6};
    const Schedule schedule = expand(plan, kThreeClusters, 0);
    std::vector<Rank> far;
    std::size_t near = 0;
    for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send) continue;
        CHECK(step.units == 1000);
        CHECK(step.is_paced == (step.peer > 1));
        if (step.peer > 1)
            far.push_back(step.peer);
        else
            ++near;
    }
    CHECK(far == std::vector<Rank>{2, 4, 2, 4, 2, 4});
    CHECK(near == 9);  // its own block, and one of each other cluster
    CHECK(schedule.seconds_per_unit == 1e-6);
}

TEST_CASE("an exchange in segments takes what ports and uplinks need, and a latency", "[exchange]") {
    const Machine machine(Topology::from_clusters(8, {{0, 1, 2, 3}, {4, 5, 6, 7}}));
    const MachineCosts costs = test::uniform_costs(2, Seconds(10e-3), 12.5e6);
    const Request request = request_for(Collective::allgather, 512 * 1024);
    Pricing pricing(request, machine, costs);
    const auto algorithm = parse_algorithm("multi-leader-exchange@16K", Collective::allgather);
    const auto candidate = algorithm->price(pricing);
    // Each host sends its block to one of the other cluster, and three times the two that go around.
    CHECK(candidate->seconds == Approx(10e-3 + 7 * 512 * 1024 / 12.5e6).epsilon(0.1));
    REQUIRE(candidate->pace.size() == 2);
    // The other cluster gets 4 blocks by a link of one NIC's rate.
    CHECK(candidate->pace[0] == Approx(1 / 12.5e6).epsilon(0.1));
}

TEST_CASE("where many hosts share a thin uplink, what clusters have goes around", "[exchange]") {
    constexpr double kUplink = 4e6;
    constexpr double kNic = 12.5e6;
    constexpr Bytes kBlock = 64 * 1024;
    const Machine machine(Topology::from_clusters(11, {{0, 1, 2, 3, 4, 5}, {6}, {7}, {8}, {9}, {10}}));
    MachineCosts costs = test::uniform_costs(6, Seconds(5e-3), kNic);
    costs.cluster(0).uplink_out = costs.cluster(0).uplink_in = kUplink;
    const Request request = request_for(Collective::allgather, kBlock);
    const auto seconds = [&](const char* name) {
        Pricing pricing(request, machine, costs);
        return parse_algorithm(name, request.collective)->price(pricing)->seconds;
    };
    const double block = kBlock / kUplink;
    // Six blocks to each of five others; or ten blocks out, six of its own among them, and five in.
    CHECK(seconds("leader-exchange/chain@8K") > 5 * 6 * block);
    CHECK(seconds("leader-ring/chain@8K") > 10 * block);
    CHECK(seconds("leader-ring/chain@8K") < 10 * block + 5 * 5e-3 + 20e-3);
    // Here the ring of all hosts does as well.
    CHECK(choose_plan(request, machine, {}, costs).predicted.count() < 10 * block + 5 * 5e-3 + 20e-3);
}

TEST_CASE("messages to several clusters wait for their receivers before they share an uplink", "[exchange]") {
    constexpr double kUplink = 4e6;
    constexpr double kFar = 10e-3;
    const Machine machine(Topology::from_clusters(5, {{0}, {1}, {2}, {3}, {4}}));
    MachineCosts costs = test::uniform_costs(5, Seconds(kFar), 12.5e6);
    for (int c = 0; c < 5; ++c) costs.cluster(c).nic_out = costs.cluster(c).nic_in = 12.5e6;
    costs.cluster(0).uplink_out = kUplink;
    const Request request = request_for(Collective::allgather, 20'000);
    const auto seconds = [&] {
        Pricing pricing(request, machine, costs);
        return parse_algorithm("leader-exchange/flat", request.collective)->price(pricing)->seconds;
    };
    const double without = seconds();
    CHECK(without == Approx(4 * 20'000 / kUplink + kFar).epsilon(0.05));
    costs.cluster(3).eager_limit = 16384;
    for (int other = 1; other < 5; ++other) {
        Curve& gap = costs.link(0, other).gap;
        const auto at = [&](Bytes bytes, double more) { gap.set(bytes, gap.at(bytes) + Seconds(more)); };
        at(1 << 20, 2 * kFar);
        at(16384, 0);
        gap.set(16385, gap.at(16384) + Seconds(2 * kFar));
        costs.link(0, other).stream = gap;
    }
    CHECK(seconds() == Approx(without + 2 * kFar).epsilon(0.05));
}

TEST_CASE("leaders send long blocks at the pace of the busiest link", "[exchange]") {
    constexpr std::uint64_t kBlock = 64 * 1024;
    constexpr double kUplink = 2e6;
    const Machine machine = test::machine_of({2, 4, 2});
    MachineCosts costs = test::uniform_costs(3, Seconds(10e-3), 12.5e6);
    for (int c = 0; c < 3; ++c) costs.cluster(c).uplink_out = costs.cluster(c).uplink_in = kUplink;
    costs.cluster(0).eager_limit = 16 * 1024;
    const Request request = request_for(Collective::allgather, kBlock);
    const auto pace = [&](const char* name) { return test::price_of(name, request, machine, costs)->pace; };
    // The second cluster sends four blocks to both others. They take as long for their two.
    const double each = 2 * 4 * kBlock / kUplink;
    const std::vector<double> paced = pace("leader-exchange/chain@16K");
    REQUIRE(paced.size() == 3);
    CHECK(paced[1] * 2 * 4 * kBlock == Approx(each).epsilon(0.05));
    CHECK(paced[0] == Approx(2 * paced[1]));
    CHECK(pace("leader-exchange/chain").empty());
    CHECK(pace("leader-ring/chain@16K").empty());
    // Segments are proposed as long as need no handshake; of hosts alone it is multi-leader-exchange.
    const auto are_proposed = [&](const Machine& on, const std::string& name, std::uint64_t block) {
        const Request of_block = request_for(Collective::allgather, block);
        const std::vector<Candidate> all = Pricing(of_block, on, costs).all();
        return std::any_of(all.begin(), all.end(),
                           [&](const Candidate& candidate) { return candidate.algorithm->name() == name; });
    };
    CHECK(are_proposed(machine, "leader-exchange/chain@16K", kBlock));
    CHECK_FALSE(are_proposed(machine, "leader-exchange/chain@64K", kBlock));
    const Machine alone = test::machine_of({1, 1, 1});
    CHECK_FALSE(are_proposed(alone, "leader-exchange/chain@16K", kBlock));
    CHECK(are_proposed(alone, "multi-leader-exchange@16K", kBlock));
    CHECK(are_proposed(alone, "leader-ring/chain@16K", kBlock));
    // Not so many that a leader would have too many steps.
    constexpr std::uint64_t kHuge = 32 << 20;
    CHECK(are_proposed(machine, "leader-exchange/chain@32K", kHuge));
    CHECK_FALSE(are_proposed(machine, "leader-exchange/chain@16K", kHuge));
    CHECK_FALSE(are_proposed(machine, "leader-exchange/chain@8K", kHuge));
}

TEST_CASE("where one host has most of the blocks, links carry what all have together", "[exchange]") {
    constexpr int kEach = 8;
    constexpr double kUplink = 12.5e6;
    constexpr std::uint64_t kMost = 1 << 20;
    const Machine machine = test::machine_of({kEach, kEach});
    MachineCosts costs = test::uniform_costs(2, Seconds(10e-3), 125e6);
    for (int c = 0; c < 2; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = 125e6;
        costs.cluster(c).uplink_out = costs.cluster(c).uplink_in = kUplink;
    }
    std::vector<std::uint64_t> counts(2 * kEach, kMost / 64);
    counts[3] = kMost;
    Request request = request_for(Collective::allgather, kMost);
    request.counts = Counts(counts);
    const auto candidate = test::price_of("multi-leader-exchange@16K", request, machine, costs);
    REQUIRE(candidate);
    const double all = static_cast<double>(kMost) * (1 + (kEach - 1) / 64.0);
    CHECK(candidate->seconds == Approx(10e-3 + all / kUplink).epsilon(0.3));
    CHECK(candidate->pace[0] == Approx(all / kUplink / kMost).epsilon(0.05));
}
