// SPDX-License-Identifier: BSD-3-Clause
//
// Two sites of eight hosts, 10 ms apart: the case of GridMPI (Matsuda et al., 2006), without overheads. And
// what waits in the queues of NICs.
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/phase.hpp"
#include "collectives/algorithms/three_level.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/collective/lower_bound.hpp"
#include "collectives/cost/nic_work.hpp"
#include "collectives/planner/planner.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

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
const Machine kTwoSites = test::machine_of({kHosts, kHosts});

MachineCosts costs_of(const Rates& rates) {
    MachineCosts costs(2);
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

/// An allreduce of 1 MiB by the algorithm of that name; on three levels with these groups.
Plan plan_of(const std::string& name, ClusterGroups groups) {
    AlgorithmPtr algorithm = parse_algorithm(name, Collective::allreduce);
    if (const auto three_level = parse_phase(parse_name(name), "three-level"))
        algorithm = std::make_shared<ThreeLevel>(*three_level, std::move(groups));
    return {{Collective::allreduce, 1 << 20, 1, 0, true}, std::move(algorithm), ""};
}

/// The number of the segment that a step works on: of what comes into a temporary buffer it is that of what
/// it is combined with.
std::uint64_t segment_of(const Schedule& schedule, std::size_t index, const Plan& plan) {
    const Step& step = schedule.steps[index];
    Place place = step.kind == StepKind::send ? step.from : step.to;
    for (std::size_t i = index + 1; place.buffer >= kFirstTemporary && i < schedule.steps.size(); ++i) {
        const Step& next = schedule.steps[i];
        if (next.kind != StepKind::reduce && next.kind != StepKind::copy) continue;
        if (next.from == place) {
            place = next.to;
        } else if (next.to == place && next.from.buffer < kFirstTemporary) {
            place = next.from;
        }
    }
    REQUIRE(place.buffer < kFirstTemporary);
    return place.offset / plan.segments().units_per_segment;
}

}  // namespace

TEST_CASE("32 MiB over a long fat link take little longer than the network needs", "[long fat]") {
    constexpr Bytes kMessage = 32 << 20;
    const std::vector<Rates> cases{{125e6, 125e6, 1250e6}, {125e6, 25e6, 1250e6}, {1250e6, 125e6, 1250e6}};
    for (const Rates& rates : cases) {
        const MachineCosts costs = costs_of(rates);
        for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
            const Request request{collective, kMessage, 1, 0, true};
            const Plan plan = choose_plan(request, kTwoSites, kNotNative, costs);
            const double time = simulated_seconds(plan, kTwoSites, costs);
            const double bound = bound_of(collective, kMessage, rates);
            INFO(rates.nic << " " << rates.flow << ": " << plan.algorithm->name() << " takes " << time
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
    const Machine machine = test::machine_of({4, 4, 4});
    for (const char* name : {"rsag/flat@8Kx4", "direct-exchange/flat@8Kx4", "three-level/flat@8Kx12"}) {
        INFO(name);
        Plan plan = plan_of(name, {{0, 1}, {2}});
        plan.windows.local.assign(3, kLag * kSegment);
        const Schedule schedule = expand(plan, machine, 5);
        const auto is_near = [](const Step& step) { return step.peer >= 4 && step.peer < 8; };
        std::uint32_t paced = 0;
        for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
            const Step& send = schedule.steps[i];
            const bool is_contribution = send.channel % 2 == contributions() % 2;
            if (send.kind != StepKind::send || !is_near(send) || !is_contribution) continue;
            const std::uint64_t sent = segment_of(schedule, i, plan);
            for (const std::uint32_t dependency : schedule.dependencies_of(send)) {
                const Step& before = schedule.steps[dependency];
                if (before.kind != StepKind::recv || !is_near(before)) continue;
                const std::uint64_t received = segment_of(schedule, dependency, plan);
                CHECK(received + kLag <= sent);
                CHECK(received + kLag + kMembers > sent);
                ++paced;
            }
        }
        CHECK(paced > plan.segments().count() / 2);
        // Without a limit nothing waits.
        plan.windows.local.assign(3, plan.request.bytes());
        CHECK(expand(plan, machine, 5).dependencies.size() == schedule.dependencies.size() - paced);
    }
}

TEST_CASE("contributions are no more than the lead ahead of results, whoever gives them", "[long fat]") {
    constexpr std::uint32_t kLead = 20;
    const Machine machine = test::machine_of({3, 2, 1, 1});
    for (const char* name : {"rsag/flat@8Kx2", "direct-exchange/flat@8Kx3", "three-level/flat@8Kx15",
                             "direct-exchange/chain@8K", "recursive-doubling/binary@8K"}) {
        Plan plan = plan_of(name, {{0, 1}, {2}, {3}});
        plan.windows.global = kLead * plan.algorithm->segment_bytes();
        const auto completion = [&](const Schedule& schedule, std::uint64_t segment) {
            const Place place{kResult, segment * plan.segments().units_per_segment};
            std::size_t last = schedule.steps.size();
            for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
                if (schedule.steps[i].kind != StepKind::send && schedule.steps[i].to == place) last = i;
            }
            return last;
        };
        const auto schedules = expand_all(plan, machine);
        for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
            INFO(name << ", rank " << rank);
            const Schedule& schedule = schedules[static_cast<std::size_t>(rank)];
            std::uint32_t held = 0;
            std::uint32_t free = 0;
            for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
                const Step& send = schedule.steps[i];
                const bool is_contribution = send.channel % 2 == contributions() % 2;
                if (send.kind != StepKind::send || !is_contribution) continue;
                const std::uint64_t segment = segment_of(schedule, i, plan);
                if (segment < kLead) continue;
                const auto waits_for = schedule.dependencies_of(send);
                const bool is_held = std::find(waits_for.begin(), waits_for.end(),
                                               completion(schedule, segment - kLead)) != waits_for.end();
                ++(is_held ? held : free);
            }
            CHECK(free == 0);
            CHECK(held >= plan.segments().count() / 4);
        }
    }
}

TEST_CASE("an owner's contributions to a reduction are no more than the lead ahead of its sums",
          "[long fat]") {
    constexpr std::uint32_t kLead = 20;
    constexpr std::uint32_t kHostsAlone = 5;
    const Machine machine = test::machine_of(std::vector<int>(kHostsAlone, 1));
    Plan plan{
        {Collective::reduce, 1 << 20, 1, 0, true}, parse_algorithm("rsag/flat@8K", Collective::reduce), ""};
    plan.windows.global = kLead * plan.algorithm->segment_bytes();
    for (Rank rank = 1; rank < machine.rank_count(); ++rank) {
        const Schedule schedule = expand(plan, machine, rank);
        std::uint32_t contributed = 0;
        for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
            const Step& send = schedule.steps[i];
            if (send.kind != StepKind::send || send.channel != contributions()) continue;
            const std::uint64_t segment = segment_of(schedule, i, plan);
            if (segment < kLead + kHostsAlone) continue;
            const auto waits_for = schedule.dependencies_of(send);
            const auto is_last_sum = [&](std::uint32_t dependency) {
                const StepKind kind = schedule.steps[dependency].kind;
                if (kind != StepKind::reduce && kind != StepKind::copy) return false;
                const std::uint64_t of = segment_of(schedule, dependency, plan);
                return of + kLead <= segment && of + kLead + kHostsAlone > segment;
            };
            INFO("rank " << rank << ", segment " << segment);
            CHECK(std::any_of(waits_for.begin(), waits_for.end(), is_last_sum));
            ++contributed;
        }
        CHECK(contributed >= plan.segments().count() / 2);
    }
}

TEST_CASE("the lead is two turns of owners at least, where all ranks want the results", "[long fat]") {
    constexpr std::uint32_t kHostsAlone = 5;
    const Machine machine = test::machine_of(std::vector<int>(kHostsAlone, 1));
    for (const int lanes : {1, 3}) {
        Plan plan = plan_of(fmt::format("rsag/flat@8Kx{}", lanes), {});
        plan.windows.global = plan.algorithm->segment_bytes();
        const std::uint32_t lead = 2 * kHostsAlone * static_cast<std::uint32_t>(lanes);
        const Schedule schedule = expand(plan, machine, 2);
        std::uint32_t held = 0;
        for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
            const Step& send = schedule.steps[i];
            if (send.kind != StepKind::send || send.channel % 2 != contributions() % 2) continue;
            const std::uint64_t segment = segment_of(schedule, i, plan);
            for (const std::uint32_t dependency : schedule.dependencies_of(send)) {
                if (schedule.steps[dependency].to.buffer != kResult) continue;
                INFO(lanes << " lanes, segment " << segment);
                CHECK(segment_of(schedule, dependency, plan) + lead <= segment);
                ++held;
            }
        }
        CHECK(held >= plan.segments().count() / 2);
    }
}

TEST_CASE("the lead lets results come back in time", "[long fat]") {
    // 8 MiB over 100 Mbit/s take 1.3 s, and the first result some 20 ms; of 64 KiB it takes as long as of
    // all.
    const Rates rates{12.5e6, 12.5e6, 125e6};
    const auto lead = [&](Bytes bytes) {
        return choose_plan({Collective::allreduce, bytes, 1, 0, true}, kTwoSites, kNotNative, costs_of(rates))
            .windows.global;
    };
    CHECK(lead(8 << 20) > 200'000);
    CHECK(lead(8 << 20) < 1'000'000);
    CHECK(lead(64 << 10) == 0);
}

TEST_CASE("no window holds a link at a rate that is less than it carries", "[long fat]") {
    const Request request{Collective::allreduce, 8 << 20, 1, 0, true};
    MachineCosts costs = costs_of({12.5e6, 12.5e6, 125e6});
    CHECK(choose_plan(request, kTwoSites, kNotNative, costs).windows.channel < 1 << 20);
    costs.link(1, 0).carries_more = true;
    const SendWindows windows = choose_plan(request, kTwoSites, kNotNative, costs).windows;
    CHECK(windows.channel == 8 << 20);
    CHECK(windows.global == 0);
    // Nor does the pace of long blocks, that of an uplink.
    const Request blocks = request_for(Collective::alltoall, 8 << 20);
    const auto is_paced = [&] {
        return !choose_plan(blocks, kTwoSites, kNotNative, costs).windows.pace.empty();
    };
    CHECK(is_paced());
    costs.cluster(1).uplink_out = 0;  // supposed by what the link has carried
    CHECK_FALSE(is_paced());
    costs.link(1, 0).carries_more = false;
    CHECK(is_paced());
}

TEST_CASE("results for a root alone are not waited for as long as those that come back", "[long fat]") {
    const Machine machine = test::machine_of(std::vector<int>(16, 1));
    const MachineCosts costs = test::uniform_costs(16, Seconds(kFar), 12.5e6);
    const auto lead = [&](Collective collective) {
        const Plan plan =
            choose_plan({collective, 1 << 20, 1, 0, true}, machine, parse_rules("rsag/flat@8K"), costs);
        return static_cast<double>(plan.windows.global);
    };
    // In 1 MiB, at 12.5 MB/s and twice 10 ms until the first result is there.
    CHECK(lead(Collective::reduce) == Approx(2 * 20e-3 * 12.5e6).epsilon(0.5));
    CHECK(lead(Collective::reduce) > 2 * 10e-3 * 12.5e6);
    CHECK(lead(Collective::allreduce) > 1.2 * lead(Collective::reduce));
}

TEST_CASE("the pace of contributions goes by a cluster's NICs", "[long fat]") {
    const Request request{Collective::allreduce, 1 << 20, 1, 0, true};
    MachineCosts costs = costs_of({125e6, 125e6, 1250e6});
    costs.cluster(0).nic_out = 1e6;
    CHECK(choose_plan(request, kTwoSites, kNotNative, costs).windows.local ==
          std::vector<Bytes>{64 * 1024, 625'000});
    costs.cluster(0).nic_out = 12.5e9;
    costs.cluster(1).nic_out = 0;  // not known
    CHECK(choose_plan(request, kTwoSites, kNotNative, costs).windows.local ==
          std::vector<Bytes>{8 << 20, 125'000});
    CHECK(choose_plan(request, kTwoSites, kNotNative).windows.local.empty());
}

TEST_CASE("ranks that take turns do not send for long at a time", "[long fat]") {
    const Request request{Collective::allreduce, 8 << 20, 1, 0, true};
    const auto largest_in_lanes = [&](double nic) {
        Bytes largest = 0;
        const MachineCosts costs = costs_of({nic, nic, 10 * nic});
        for (const Candidate& candidate : Pricing(request, kTwoSites, costs).all()) {
            const bool is_phase = dynamic_cast<const PhaseAlgorithm*>(candidate.algorithm.get()) != nullptr;
            if (is_phase && candidate.algorithm->lanes() > 1)
                largest = std::max(largest, candidate.segment_bytes());
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
