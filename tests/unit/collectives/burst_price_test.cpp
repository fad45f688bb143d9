// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/burst_price.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "collectives/planner/planner.hpp"
#include "collectives/planner/rules.hpp"
#include "plogp/uplink_burst.hpp"
#include "simulated.hpp"

using namespace laple;

namespace {

/// Four sites of four hosts of 100 Mbit/s behind uplinks of 200.
MachineCosts four_sites(double burst) {
    MachineCosts costs(4);
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

const std::vector<int> kSizes{4, 4, 4, 4};
const Machine kSites = test::machine_of(kSizes);

double seconds(const std::string& name, Bytes kib, double burst, const Machine& machine = kSites) {
    const Request request{Collective::allreduce, kib << 10, 1, 0, true};
    return test::price_of(name, request, machine, four_sites(burst))->seconds;
}

bool stalls(const std::string& name, Bytes kib, double burst, const Machine& machine = kSites) {
    const double more = seconds(name, kib, burst, machine) - seconds(name, kib, 0, machine);
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

TEST_CASE("a burst stalls that is larger than what may wait, whichever cluster sends it", "[burst]") {
    constexpr Bytes kBytes = 64 << 10;
    const auto stall = [](std::vector<ClusterBurst> bursts, double burst, int lanes) {
        return stall_of(bursts, kBytes, lanes, kSizes, four_sites(burst));
    };
    CHECK(stall({{0, 3}}, 140e3, 4) > 0.1);
    CHECK(stall({{0, 0}, {2, 3}}, 140e3, 4) == stall({{0, 3}}, 140e3, 4));
    CHECK(stall({}, 140e3, 4) == 0);
    CHECK(stall({{0, 0.5}}, 140e3, 4) == 0);
    // Nobody knows of a limit.
    CHECK(stall({{0, 3}}, 0, 4) == 0);
    // A single NIC is no faster than the uplink.
    CHECK(stall({{0, 3}}, 140e3, 1) == 0);
}

TEST_CASE("inter-cluster phases stall where more comes to an uplink at once than may wait there", "[burst]") {
    constexpr double kQueue = 140e3;
    // As measured over queues of 128 KiB.
    CHECK(stalls("direct-exchange/flat@8Kx4", 48, kQueue));
    CHECK(stalls("direct-exchange/flat@8Kx4", 64, kQueue));
    CHECK(stalls("direct-exchange/flat@8Kx4", 256, kQueue));
    CHECK(stalls("three-level/flat@8Kx4", 64, kQueue));
    CHECK_FALSE(stalls("direct-exchange/flat@8Kx4", 32, kQueue));
    for (const Bytes kib : {64U, 128U, 256U}) {
        CHECK_FALSE(stalls("direct-exchange/binomial@8K", kib, kQueue));
        CHECK_FALSE(stalls("recursive-doubling/binomial@8K", kib, kQueue));
        CHECK_FALSE(stalls("rsag/flat@8Kx4", kib, kQueue));
    }
    CHECK(stalls("rsag/flat@8Kx4", 256, 64e3));
    // Two groups of two sites: each sends one copy and a half, not three.
    const Machine grouped = test::grouped_machine({0, 0, 1, 1}, 4);
    CHECK_FALSE(stalls("three-level/flat@8Kx4", 64, kQueue, grouped));
}

TEST_CASE("a network of absurd gaps has a plan as well", "[burst]") {
    MachineCosts costs = four_sites(1e5);
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
    const auto is_exchange_in_lanes = [](const Algorithm& algorithm) {
        return algorithm.name().starts_with("direct-exchange/") && algorithm.lanes() > 1;
    };
    CHECK(is_exchange_in_lanes(*best(0)));
    CHECK(best(0)->lanes() == 4);
    CHECK_FALSE(is_exchange_in_lanes(*best(140e3)));
}

TEST_CASE("what passed at once on its way up waits on its way down", "[burst]") {
    const Machine machine = test::machine_of({8});
    MachineCosts costs(1);
    costs.cluster(0).nic_in = costs.cluster(0).nic_out = 125e6;
    costs.cluster(0).reserve = 128 * 1024;
    costs.link(0, 0).latency = 30e-6;
    costs.link(0, 0).gap = costs.link(0, 0).stream =
        Curve({{0, Seconds(1e-6)}, {1 << 20, Seconds((1 << 20) / 125e6)}});
    for (const Bytes kib : {32U, 64U, 96U, 120U}) {
        const Request request{Collective::allreduce, kib << 10, 1, 0, true};
        const auto price = test::price_of("chain/chain", request, machine, costs);
        CAPTURE(kib);
        CHECK(price->seconds ==
              Approx(test::simulated_seconds(test::plan_of(request, *price), machine, costs)).epsilon(0.1));
    }
}
