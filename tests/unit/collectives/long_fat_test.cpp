// SPDX-License-Identifier: BSD-3-Clause
//
// Two sites of eight hosts, 10 ms apart: the worked cases of algorithms.md 3f, without overheads. And what
// waits in the queues of NICs.
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/candidates.hpp"
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

TEST_CASE("contributions inside a cluster are a little ahead of those that come, not all at once",
          "[long fat]") {
    constexpr std::uint32_t kMembers = 4;
    constexpr std::uint32_t kLag = 6;
    constexpr Bytes kSegment = 8192;
    const Topology topology = Topology::from_clusters(12, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
    for (const char* name : {"scatter/flat@8Kx4", "exchange/flat@8Kx4", "regional/flat@8Kx12"}) {
        INFO(name);
        Plan plan{
            {Collective::allreduce, 1 << 20, 1, 0, true}, parse_algorithm(name, Collective::allreduce), ""};
        plan.regions = {{0, 1}, {2}};
        plan.pace_bytes.assign(3, kLag * kSegment);
        const Schedule schedule = expand(plan, topology, 5);
        const auto is_near = [](const Step& step) { return step.peer >= 4 && step.peer < 8; };
        std::uint32_t paced = 0;
        for (const Step& send : schedule.steps) {
            const bool is_contribution = send.channel % 2 == contributions() % 2;
            if (send.kind != StepKind::send || !is_near(send) || !is_contribution) continue;
            for (const std::uint32_t dependency : schedule.dependencies_of(send)) {
                const Step& before = schedule.steps[dependency];
                if (before.kind != StepKind::recv || !is_near(before)) continue;
                CHECK(before.block + kLag <= send.block);
                CHECK(before.block + kLag + kMembers > send.block);
                ++paced;
            }
        }
        CHECK(paced > plan.blocks().count() / 2);
        // Without a limit nothing waits.
        plan.pace_bytes.assign(3, plan.request.bytes());
        CHECK(expand(plan, topology, 5).dependencies.size() == schedule.dependencies.size() - paced);
    }
}

TEST_CASE("contributions are no more than the lead ahead of results, whoever gives them", "[long fat]") {
    constexpr std::uint32_t kLead = 20;
    const Topology topology = Topology::from_clusters(7, {{0, 1, 2}, {3, 4}, {5}, {6}});
    for (const char* name : {"scatter/flat@8Kx12", "exchange/flat@8Kx3", "regional/flat@8Kx15",
                             "exchange/chain@8K", "doubling/binary@8K"}) {
        Plan plan{
            {Collective::allreduce, 1 << 20, 1, 0, true}, parse_algorithm(name, Collective::allreduce), ""};
        plan.regions = {{0, 1}, {2}, {3}};
        plan.lead_bytes = kLead * plan.algorithm.segment_bytes;
        const auto completion = [](const Schedule& schedule, std::uint32_t block) {
            std::size_t last = schedule.steps.size();
            for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
                const Step& step = schedule.steps[i];
                if (step.kind != StepKind::send && step.to == Place{kResult, block}) last = i;
            }
            return last;
        };
        const auto schedules = expand_all(plan, topology);
        for (Rank rank = 0; rank < topology.size(); ++rank) {
            INFO(name << ", rank " << rank);
            const Schedule& schedule = schedules[static_cast<std::size_t>(rank)];
            std::uint32_t held = 0;
            std::uint32_t free = 0;
            for (const Step& send : schedule.steps) {
                const bool is_contribution = send.channel % 2 == contributions() % 2;
                if (send.kind != StepKind::send || !is_contribution || send.block < kLead) continue;
                const auto waits_for = schedule.dependencies_of(send);
                const bool is_held = std::find(waits_for.begin(), waits_for.end(),
                                               completion(schedule, send.block - kLead)) != waits_for.end();
                ++(is_held ? held : free);
            }
            CHECK(free == 0);
            CHECK(held >= plan.blocks().count() / 4);
        }
    }
}

TEST_CASE("the lead lets results come back in time", "[long fat]") {
    // 8 MiB over 100 Mbit/s take 1.3 s, and the first result some 20 ms; of 64 KiB it takes as long as of
    // all.
    const Rates rates{12.5e6, 12.5e6, 125e6};
    const auto lead = [&](Bytes bytes) {
        return choose_plan({Collective::allreduce, bytes, 1, 0, true}, kTwoSites, kNotNative, costs_of(rates))
            .lead_bytes;
    };
    CHECK(lead(8 << 20) > 200'000);
    CHECK(lead(8 << 20) < 1'000'000);
    CHECK(lead(64 << 10) == 0);
}

TEST_CASE("the pace of contributions goes by a cluster's NICs", "[long fat]") {
    const Request request{Collective::allreduce, 1 << 20, 1, 0, true};
    NetworkCosts costs = costs_of({125e6, 125e6, 1250e6});
    costs.cluster(0).nic_out = 1e6;
    CHECK(choose_plan(request, kTwoSites, kNotNative, costs).pace_bytes ==
          std::vector<Bytes>{64 * 1024, 625'000});
    costs.cluster(0).nic_out = 12.5e9;
    costs.cluster(1).nic_out = 0;  // not known
    CHECK(choose_plan(request, kTwoSites, kNotNative, costs).pace_bytes ==
          std::vector<Bytes>{8 << 20, 125'000});
    CHECK(choose_plan(request, kTwoSites, kNotNative).pace_bytes.empty());
}

TEST_CASE("ranks that take turns do not send for long at a time", "[long fat]") {
    const Request request{Collective::allreduce, 8 << 20, 1, 0, true};
    const auto largest_in_lanes = [&](double nic) {
        Bytes largest = 0;
        const NetworkCosts costs = costs_of({nic, nic, 10 * nic});
        for (const Candidate& candidate : Pricing(request, kTwoSites, costs).all()) {
            const Algorithm& algorithm = candidate.algorithm;
            if (algorithm.meeting != Meeting::tree && algorithm.lanes > 1)
                largest = std::max(largest, algorithm.segment_bytes);
        }
        return largest;
    };
    CHECK(largest_in_lanes(12.5e6) == 16 * 1024);
    CHECK(largest_in_lanes(125e6) == 64 * 1024);
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
