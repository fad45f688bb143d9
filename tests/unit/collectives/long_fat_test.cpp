// SPDX-License-Identifier: BSD-3-Clause
//
// Two sites of eight hosts, 10 ms apart: the worked cases of algorithms.md 3f, without overheads. And what
// waits in the queues of NICs.
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/lower_bound.hpp"
#include "collectives/nic_work.hpp"
#include "collectives/planner.hpp"
#include "simulated.hpp"

using namespace laple;
using test::simulated_seconds;

namespace {

constexpr int kHosts = 8;  // of a site
constexpr double kFar = 10e-3;
constexpr double kNear = 1e-6;

/// Bytes a second.
struct Rates {
    double nic;
    double flow;  // of one connection between the sites
    double uplink;
};

const Rules kNotNative = parse_rules("^native");  // whose time is not simulated
const Topology kTwoSites =
    Topology::from_clusters(2 * kHosts, {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}});

NetworkCosts costs_of(const Rates& rates) {
    NetworkCosts costs(2);
    costs.shares_ports = false;
    const auto line = [](double rate) {
        constexpr Bytes kMost = 1 << 26;
        return Curve({{0, Seconds(1e-7)}, {kMost, Seconds(1e-7 + static_cast<double>(kMost) / rate)}});
    };
    for (int a = 0; a < 2; ++a) {
        costs.cluster(a).nic_in = costs.cluster(a).nic_out = rates.nic;
        costs.cluster(a).uplink_in = costs.cluster(a).uplink_out = rates.uplink;
        for (int b = 0; b < 2; ++b) {
            costs.link(a, b).latency = a == b ? kNear : kFar;
            costs.link(a, b).gap = costs.link(a, b).stream = line(a == b ? rates.nic : rates.flow);
        }
    }
    return costs;
}

double bound_of(Collective collective, Bytes bytes, const Rates& rates) {
    Network network;
    network.nic = rates.nic;
    network.clusters = {{"here", 0}, {"there", 1}};
    network.sites = {{"here", rates.uplink}, {"there", rates.uplink}};
    network.latency = {{Seconds(kNear), Seconds(kFar)}, {Seconds(kFar), Seconds(kNear)}};
    network.link = {{1e12, 1e12}, {1e12, 1e12}};
    std::vector<int> cluster_of_node(2 * kHosts, 0);
    std::fill(cluster_of_node.begin() + kHosts, cluster_of_node.end(), 1);
    return lower_bound(collective, bytes, 0, cluster_of_node, network).time.count();
}

}  // namespace

TEST_CASE("32 MiB over a long fat link take little longer than the network needs", "[long fat]") {
    constexpr Bytes kMessage = 32 << 20;
    const std::vector<Rates> cases{{125e6, 125e6, 1250e6}, {125e6, 25e6, 1250e6}, {1250e6, 125e6, 1250e6}};
    for (const Rates& rates : cases) {
        const NetworkCosts costs = costs_of(rates);
        for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
            const Request request{collective, kMessage, 1, 0, true};
            const Plan plan = choose_plan(request, kTwoSites, kNotNative, costs);
            const double time = simulated_seconds(plan, kTwoSites, costs);
            const double bound = bound_of(collective, kMessage, rates);
            INFO(rates.nic << " " << rates.flow << ": " << name_of(plan.algorithm) << " takes " << time
                           << ", predicted " << plan.predicted.count() << ", bound " << bound);
            CHECK(time < 1.15 * bound);
        }
    }
}

TEST_CASE("what comes back has half of a NIC while there is something to go out", "[long fat]") {
    // Nothing to wait for: the NIC is never idle.
    CHECK(NicWork{4, 3}.time(0) == Approx(7));
    CHECK(NicWork{3, 4}.time(0) == Approx(7));
    // Contributions have gone before the first result comes, or the last result comes late.
    CHECK(NicWork{2, 5}.time(3) == Approx(8));
    CHECK(NicWork{5, 2}.time(6) == Approx(11));
    CHECK(NicWork{0, 0}.time(3) == Approx(3));
    // Contributions alone until 3, in turn with results until 8; the last result takes until 11.
    CHECK(NicWork{6, 2}.time(3) == Approx(11));
    CHECK(NicWork{6, 6}.time(3) == Approx(12));
}
