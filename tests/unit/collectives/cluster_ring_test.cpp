// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/cluster_ring.hpp"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/pricing.hpp"
#include "collectives/planner/planner.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;

namespace {

/// Blocks that each cluster gets from other ones, in segments of 1000 units.
std::vector<int> blocks_from_elsewhere(const char* algorithm, const Machine& machine) {
    const Plan plan{request_for(Collective::reduce_scatter, 4000),
                    parse_algorithm(algorithm, Collective::reduce_scatter), ""};
    std::vector<int> segments(static_cast<std::size_t>(machine.cluster_count()), 0);
    for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
        const int own = machine.cluster_of_rank(rank);
        for (const Step& step : expand(plan, machine, rank).steps) {
            if (step.kind == StepKind::recv && machine.cluster_of_rank(step.peer) != own)
                ++segments[static_cast<std::size_t>(own)];
        }
    }
    for (int& number : segments) number /= 4;
    return segments;
}

}  // namespace

TEST_CASE("a ring of clusters goes from each to the nearest one that is left", "[ring]") {
    const Machine machine = test::machine_of({1, 1, 1, 1});
    MachineCosts costs = test::uniform_costs(4, Seconds(20e-3), 12.5e6);
    const auto set = [&](int a, int b, double seconds) {
        costs.link(a, b).latency = costs.link(b, a).latency = seconds;
    };
    set(0, 2, 1e-3);
    set(2, 3, 2e-3);
    const Request request = request_for(Collective::reduce_scatter, 1000);
    CHECK(ring_order(Pricing(request, machine, costs)) == RingOrder{0, 2, 3, 1});
}

TEST_CASE("in a ring of clusters each gets one copy of all blocks but those of its left neighbour",
          "[ring]") {
    const Machine machine = test::machine_of({4, 1, 2});
    CHECK(blocks_from_elsewhere("cluster-combining@1000", machine) == std::vector<int>{8, 2, 4});
    CHECK(blocks_from_elsewhere("cluster-ring@1000", machine) == std::vector<int>{5, 3, 6});
}

TEST_CASE("where many hosts share a thin uplink, what clusters combine goes around", "[ring]") {
    constexpr double kUplink = 4e6;
    constexpr Bytes kBlock = 64 * 1024;
    const Machine machine = test::machine_of({6, 1, 1, 1, 1, 1});
    MachineCosts costs = test::uniform_costs(6, Seconds(5e-3), 12.5e6);
    costs.cluster(0).uplink_out = costs.cluster(0).uplink_in = kUplink;
    const Request request = request_for(Collective::reduce_scatter, kBlock);
    const auto seconds = [&](const char* name) {
        return test::price_of(name, request, machine, costs)->seconds;
    };
    const double block = kBlock / kUplink;
    // Six blocks from each of five others; or ten blocks in, six of them its own, and five out.
    CHECK(seconds("cluster-combining@8K") > 5 * 6 * block);
    CHECK(seconds("cluster-ring@8K") > 10 * block);
    CHECK(seconds("cluster-ring@8K") < 10 * block + 5 * 5e-3 + 60e-3);
    CHECK(choose_plan(request, machine, {}, costs).algorithm->name().starts_with("cluster-ring@"));
    // Without it, there are latencies only.
    costs.cluster(0).uplink_out = costs.cluster(0).uplink_in = 0;
    CHECK_FALSE(choose_plan(request, machine, {}, costs).algorithm->name().starts_with("cluster-ring@"));
}

TEST_CASE("an uplink carries the blocks of the ranks that there are, where hosts have different numbers",
          "[combining]") {
    // Three clusters of two hosts, of 16 ranks and `second`.
    const auto seconds = [](int second) {
        std::vector<int> hosts;
        std::vector<int> clusters;
        for (int cluster = 0; cluster < 3; ++cluster) {
            for (int rank = 0; rank < 16 + second; ++rank) {
                hosts.push_back(2 * cluster + rank / 16);
                clusters.push_back(cluster);
            }
        }
        const int ranks = static_cast<int>(hosts.size());
        const Machine machine(Topology::from_labels(ranks, {clusters}), hosts);
        MachineCosts costs = test::uniform_costs(3, Seconds(5e-3), 12.5e6);
        for (int c = 0; c < 3; ++c) {
            MachineCosts::Cluster& cluster = costs.cluster(c);
            cluster.nic_out = cluster.nic_in = 125e6;
            cluster.uplink_out = cluster.uplink_in = 4e6;
        }
        const Request request = request_for(Collective::reduce_scatter, 64 * 1024);
        return test::price_of("cluster-combining@4K", request, machine, costs)->seconds;
    };
    // Into each cluster come 64 blocks of 64 KiB, or 34.
    CHECK(seconds(16) > 64 * 65536 / 4e6);
    CHECK(seconds(1) > 34 * 65536 / 4e6);
    CHECK(seconds(1) < 0.65 * seconds(16));
}

TEST_CASE("uneven blocks that are combined take what the cluster takes that gets them", "[combining]") {
    const Machine machine = test::machine_of({4, 4, 4});
    MachineCosts costs = test::uniform_costs(3, Seconds(5e-3), 12.5e6);
    for (int c = 0; c < 3; ++c) {
        costs.cluster(c).nic_out = costs.cluster(c).nic_in = 125e6;
        costs.cluster(c).uplink_out = costs.cluster(c).uplink_in = 4e6;
    }
    constexpr std::uint64_t kAll = 12 << 20;
    Request request = request_for(Collective::reduce_scatter, 1 << 20);
    const auto price_of = [&](const char* name) { return *test::price_of(name, request, machine, costs); };
    const std::vector<double> even_ring = price_of("cluster-ring@16K").pace;
    // Four blocks from each other cluster.
    CHECK(price_of("cluster-combining@16K").seconds == Approx(2.0 / 3 * kAll / 4e6).epsilon(0.1));
    std::vector<std::uint64_t> units(12, 0);
    std::fill(units.begin() + 8, units.end(), kAll / 4 / request.unit_bytes);
    request.counts = Counts(units);
    CHECK(price_of("cluster-combining@16K").seconds == Approx(2.0 * kAll / 4e6).epsilon(0.1));
    // Around the ring all of it passes the uplink of each cluster but the last one's, by four hosts.
    const std::vector<double> pace = price_of("cluster-ring@16K").pace;
    REQUIRE(pace.size() == 3);
    CHECK(pace[0] >= 0.95 * even_ring[0]);
    CHECK(pace[1] >= 0.95 * even_ring[1]);
}

TEST_CASE("short blocks of many ranks are sent apart where together they need a handshake", "[combining]") {
    const Machine machine = test::machine_of_hosts(2, 1, 16);
    MachineCosts costs = test::uniform_costs(2, Seconds(5e-3), 125e6);
    costs.cluster(0).eager_limit = costs.cluster(1).eager_limit = 16 * 1024;
    const auto is_proposed = [&](Bytes bytes) {
        const Request request = request_for(Collective::reduce_scatter, bytes);
        const std::vector<Candidate> found = Pricing(request, machine, costs).all();
        return std::any_of(found.begin(), found.end(), [](const Candidate& candidate) {
            return candidate.algorithm->name() == "cluster-combining@4K";
        });
    };
    CHECK(is_proposed(4096));
    CHECK_FALSE(is_proposed(512));
}

TEST_CASE("a ring of clusters takes as long as it is predicted to", "[ring]") {
    const Machine machine = test::machine_of({4, 1, 2, 3});
    const MachineCosts costs = test::uniform_costs(4, Seconds(8e-3), 12.5e6);
    const Request request = request_for(Collective::reduce_scatter, 64 * 1024);
    const auto candidate = test::price_of("cluster-ring@8K", request, machine, costs);
    REQUIRE(candidate);
    const double simulated = test::simulated_seconds(test::plan_of(request, *candidate), machine, costs);
    CHECK(candidate->seconds == Approx(simulated).epsilon(0.2));
}
