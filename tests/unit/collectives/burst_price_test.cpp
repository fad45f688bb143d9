// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/burst_price.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "collectives/candidates.hpp"
#include "collectives/planner.hpp"
#include "collectives/rules.hpp"
#include "plogp/uplink_burst.hpp"

using namespace laple;

namespace {

/// Four sites of four hosts of 100 Mbit/s behind uplinks of 200.
NetworkCosts four_sites(double burst) {
    NetworkCosts costs(4);
    for (int a = 0; a < 4; ++a) {
        costs.cluster(a).nic_in = costs.cluster(a).nic_out = 12.5e6;
        costs.cluster(a).uplink_in = costs.cluster(a).uplink_out = 25e6;
        costs.cluster(a).reserve = 128 * 1024;
        costs.cluster(a).burst = burst;
        for (int b = 0; b < 4; ++b) {
            costs.link(a, b).latency = a == b ? 50e-6 : 10e-3;
            costs.link(a, b).gap = costs.link(a, b).stream =
                Curve({{0, Seconds(1e-6)}, {1 << 20, Seconds((1 << 20) / 12.5e6)}});
        }
    }
    return costs;
}

const Topology kSites =
    Topology::from_clusters(16, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}});

double seconds(const std::string& name, Bytes kib, double burst, const Topology& topology = kSites) {
    const NetworkCosts costs = four_sites(burst);
    const Request request{Collective::allreduce, kib << 10, 1, 0, true};
    return Pricing(request, topology, costs).price(parse_algorithm(name, Collective::allreduce))->seconds;
}

bool stalls(const std::string& name, Bytes kib, double burst, const Topology& topology = kSites) {
    const double more = seconds(name, kib, burst, topology) - seconds(name, kib, 0, topology);
    CHECK((more == 0 || more == Approx(0.2)));
    return more > 0;
}

}  // namespace

TEST_CASE("what waits at an uplink is what came at once, and what came faster than it left", "[burst]") {
    CHECK(waiting_at_uplink(100, 200, 10, 20) == 100);
    CHECK(waiting_at_uplink(100, 40, 10, 20) == 40);
    CHECK(waiting_at_uplink(100, 40, 40, 20) == 40 + 30);
    CHECK(waiting_at_uplink(100, 0, 40, 20) == 50);
}

TEST_CASE("meetings stall where more comes to an uplink at once than may wait there", "[burst]") {
    constexpr double kQueue = 140e3;
    // As measured over queues of 128 KiB.
    CHECK(stalls("exchange/flat@8Kx4", 48, kQueue));
    CHECK(stalls("exchange/flat@8Kx4", 64, kQueue));
    CHECK(stalls("exchange/flat@8Kx4", 256, kQueue));
    CHECK(stalls("regional/flat@8Kx4", 64, kQueue));
    CHECK_FALSE(stalls("exchange/flat@8Kx4", 32, kQueue));
    for (const Bytes kib : {64U, 128U, 256U}) {
        CHECK_FALSE(stalls("exchange/binomial@8K", kib, kQueue));
        CHECK_FALSE(stalls("doubling/binomial@8K", kib, kQueue));
        CHECK_FALSE(stalls("scatter/flat@8Kx4", kib, kQueue));
    }
    CHECK(stalls("scatter/flat@8Kx4", 256, 64e3));
    // Two regions of two sites: each sends one copy and a half, not three.
    const Topology regions = Topology::from_labels(16, {{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1},
                                                        {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}});
    CHECK_FALSE(stalls("regional/flat@8Kx4", 64, kQueue, regions));
}

TEST_CASE("a network of absurd gaps has a plan as well", "[burst]") {
    NetworkCosts costs = four_sites(1e5);
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b)
            costs.link(a, b).gap = costs.link(a, b).stream =
                Curve({{0, Seconds(0)}, {16384, Seconds(1e308)}});
    }
    for (const Bytes kib : {1U, 64U, 1024U}) {
        const Request request{Collective::allreduce, kib << 10, 1, 0, true};
        CHECK_NOTHROW(choose_plan(request, kSites, parse_rules(""), costs));
    }
}

TEST_CASE("an allreduce that would overflow a queue is not chosen", "[burst]") {
    const Request request{Collective::allreduce, 64 << 10, 1, 0, true};
    const auto best = [&](double burst) {
        return choose_plan(request, kSites, parse_rules("^native"), four_sites(burst)).algorithm;
    };
    CHECK(best(0).meeting == Meeting::exchange);
    CHECK(best(0).lanes == 4);
    CHECK((best(140e3).meeting != Meeting::exchange || best(140e3).lanes == 1));
}
