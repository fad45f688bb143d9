// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/three_level.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/algorithms/name.hpp"
#include "collectives/planner/planner.hpp"
#include "collectives/simulation/verifier.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;
using test::machine_of;

namespace {

/// `latencies`: between clusters 0 and 1, 0 and 2, 1 and 2, 0 and 3, ... in seconds.
MachineCosts costs_with(const std::vector<double>& latencies, int clusters) {
    MachineCosts costs = test::uniform_costs(clusters, Seconds(0), 12.5e6);
    std::size_t next = 0;
    for (int b = 1; b < clusters; ++b) {
        for (int a = 0; a < b; ++a) {
            costs.link(a, b).latency = costs.link(b, a).latency = latencies.at(next++);
        }
    }
    return costs;
}

ClusterGroups groups_by(const std::vector<double>& latencies, int clusters) {
    const std::vector<int> sizes(static_cast<std::size_t>(clusters), 2);
    return near_groups(machine_of(sizes), costs_with(latencies, clusters));
}

bool is_three_level(const Algorithm& algorithm) {
    return dynamic_cast<const ThreeLevel*>(&algorithm) != nullptr;
}

/// With groups that were found by costs.
AlgorithmPtr with_groups(const std::string& name, ClusterGroups groups) {
    return std::make_shared<ThreeLevel>(parse_phase(parse_name(name), "three-level").value(),
                                        std::move(groups));
}

/// An allreduce of one segment for each lane.
Plan lanes_plan(Shape within, int lanes, ClusterGroups groups) {
    const PhaseParameters parameters{{}, within, false, 8, lanes};
    return {request_for(Collective::allreduce, static_cast<Bytes>(8 * lanes)),
            std::make_shared<ThreeLevel>(parameters, std::move(groups)), ""};
}

/// Who sends contributions to whom in one lane of such a plan; results go back the same way.
std::set<std::pair<Rank, Rank>> contributions_in(int lane, const std::vector<Schedule>& schedules) {
    std::set<std::pair<Rank, Rank>> sent;
    std::set<std::pair<Rank, Rank>> back;
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        for (const Step& step : schedules[rank].steps) {
            if (step.kind != StepKind::send) continue;
            if (step.channel == contributions(lane)) sent.insert({static_cast<Rank>(rank), step.peer});
            if (step.channel == results(lane)) back.insert({step.peer, static_cast<Rank>(rank)});
        }
    }
    for (const auto& way : back) CHECK(sent.count(way) == 1);
    return sent;
}

}  // namespace

TEST_CASE("near groups are what the outermost large step in latency sets apart", "[near_groups]") {
    CHECK(groups_by({5e-3, 45e-3, 40e-3}, 3) == ClusterGroups{{0, 1}, {2}});
    CHECK(groups_by({45e-3, 5e-3, 40e-3}, 3) == ClusterGroups{{0, 2}, {1}});
    CHECK(groups_by({5e-3, 45e-3, 40e-3, 45e-3, 41e-3, 5e-3}, 4) == ClusterGroups{{0, 1}, {2, 3}});
    // A very near pair does not hide the ocean.
    CHECK(groups_by({0.3e-3, 5e-3, 5e-3, 40e-3, 40e-3, 40e-3}, 4) == ClusterGroups{{0, 1, 2}, {3}});
    CHECK(groups_by({0.3e-3, 5e-3, 5e-3, 8e-3, 8e-3, 8e-3}, 4) == ClusterGroups{{0, 1}, {2}, {3}});
    CHECK(groups_by({10e-3, 10e-3, 10e-3}, 3).empty());
    CHECK(groups_by({10e-3, 15e-3, 15e-3}, 3).empty());
    CHECK(groups_by({10e-3}, 2).empty());
    CHECK(groups_by({0, 0, 0}, 3).empty());
    CHECK(groups_by({}, 1).empty());
}

TEST_CASE("groups of clusters are near whatever the latencies", "[near_groups]") {
    const Machine machine = test::grouped_machine({0, 0, 1}, 2);
    CHECK(near_groups(machine, costs_with({40e-3, 40e-3, 1e-3}, 3)) == ClusterGroups{{0, 1}, {2}});
}

TEST_CASE("the lanes drawn in three_level.hpp", "[three_level]") {
    const Machine machine = machine_of({4, 4, 3});
    const Plan plan = lanes_plan({Shape::Kind::flat}, 8, {{0, 1}, {2}});
    const auto schedules = expand_all(plan, machine);
    using Ways = std::set<std::pair<Rank, Rank>>;
    CHECK(contributions_in(0, schedules) ==
          Ways{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 4}, {6, 4}, {7, 4}, {9, 8}, {10, 8}, {0, 8}, {8, 0}});
    CHECK(contributions_in(5, schedules) ==
          Ways{{4, 5}, {6, 5}, {7, 5}, {1, 5}, {0, 1}, {2, 1}, {3, 1}, {8, 10}, {9, 10}, {5, 10}, {10, 5}});
}

TEST_CASE("in every lane a group is one tree, and its ranks are sub-leaders in turn", "[three_level]") {
    const Machine machine = machine_of({4, 2, 3, 6});
    const ClusterGroups groups{{0, 1}, {2, 3}};
    const int lanes = 36;  // lcm of 6, 9; 4, 2, 3, 6
    const auto group_of = [&](Rank rank) { return machine.cluster_of_rank(rank) / 2; };
    for (const Shape shape :
         {Shape{Shape::Kind::flat}, Shape{Shape::Kind::chain}, Shape{Shape::Kind::binomial}}) {
        const auto schedules = expand_all(lanes_plan(shape, lanes, groups), machine);
        std::map<Rank, int> led;
        for (int lane = 0; lane < lanes; ++lane) {
            std::map<Rank, Rank> parents;
            std::set<Rank> leaders;
            for (const auto& [from, to] : contributions_in(lane, schedules)) {
                if (group_of(from) != group_of(to)) {
                    leaders.insert(from);
                    leaders.insert(to);
                } else {
                    CHECK(parents.insert({from, to}).second);
                }
            }
            REQUIRE(leaders.size() == 2);
            CHECK(group_of(*leaders.begin()) != group_of(*leaders.rbegin()));
            for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
                const bool is_leader = leaders.count(rank) == 1;
                REQUIRE(parents.count(rank) == (is_leader ? 0u : 1u));
                const bool is_sub_leader =
                    is_leader || machine.cluster_of_rank(parents[rank]) != machine.cluster_of_rank(rank);
                // Sub-leaders are next to the leader.
                if (is_sub_leader && !is_leader) CHECK(leaders.count(parents[rank]) == 1);
                led[rank] += is_sub_leader ? 1 : 0;
            }
        }
        for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
            const auto size = machine.ranks_in(machine.cluster_of_rank(rank)).size();
            CHECK(led[rank] == lanes / static_cast<int>(size));
        }
    }
}

TEST_CASE("schedules are correct, whatever the groups", "[three_level]") {
    const Machine interleaved(Topology::from_clusters(11, {{0, 5}, {1, 6, 9}, {2}, {3, 7, 10}, {4, 8}}));
    for (const ClusterGroups& groups :
         {ClusterGroups{{0, 2, 4}, {1, 3}}, ClusterGroups{{0}, {1, 2, 3, 4}}, ClusterGroups{{0, 1, 2, 3, 4}},
          ClusterGroups{{0}, {1}, {2}, {3}, {4}}}) {
        for (const char* name : {"three-level/flat@16x12", "three-level/flat@16x3", "three-level/chain@64x40",
                                 "three-level/binomial", "three-level/binary@16"}) {
            for (const Collective collective : {Collective::allreduce, Collective::barrier}) {
                const bool has_data = row_of(collective).has_data;
                const Plan plan{{collective, has_data ? 500u : 1u, Bytes{has_data ? 4u : 0u}},
                                with_groups(name, groups),
                                ""};
                INFO(name << ", " << groups.size() << " groups");
                CHECK(plan.algorithm->name() == name);
                REQUIRE(plan.algorithm->can_do(plan.request, interleaved));
                CHECK(verify(expand_all(plan, interleaved), plan.request, interleaved, 1, false) == "");
            }
        }
    }
}

TEST_CASE("three levels take what the simulator says", "[three_level]") {
    const auto check = [](const std::vector<int>& sizes, const std::vector<double>& latencies,
                          const ClusterGroups& groups, const char* name, double far_rate) {
        const Machine machine = machine_of(sizes);
        const int clusters = static_cast<int>(sizes.size());
        MachineCosts costs = costs_with(latencies, clusters);
        for (int a = 0; a < clusters; ++a) {
            for (int b = 0; b < clusters; ++b) {
                if (costs.link(a, b).latency < 20e-3) continue;
                costs.link(a, b).gap = costs.link(a, b).stream =
                    Curve({{0, Seconds(20e-6)}, {1 << 20, Seconds((1 << 20) / far_rate)}});
            }
        }
        const Request request{Collective::allreduce, 1 << 20, 4, 0, true};
        const auto candidate = test::price_of(name, request, machine, costs);
        REQUIRE(candidate.has_value());
        CHECK(candidate->algorithm->details() == with_groups(name, groups)->details());
        const double truth = test::simulated_seconds(test::plan_of(request, *candidate), machine, costs);
        INFO(name << ", " << far_rate << " B/s: " << candidate->seconds << " s, simulated " << truth);
        CHECK(candidate->seconds < 1.35 * truth);
        CHECK(candidate->seconds > 0.8 * truth);
    };
    const ClusterGroups both{{0, 1}, {2, 3}};
    const std::vector<double> far{5e-3, 45e-3, 45e-3, 45e-3, 45e-3, 5e-3};
    check({4, 4, 4, 4}, far, both, "three-level/flat@8Kx8", 12.5e6);
    check({4, 4, 4, 4}, far, both, "three-level/flat@8Kx8", 1e6);
    check({4, 2, 6}, {5e-3, 45e-3, 45e-3}, {{0, 1}, {2}}, "three-level/flat@8Kx12", 12.5e6);
    check({4, 2, 6}, {5e-3, 45e-3, 45e-3}, {{0, 1}, {2}}, "three-level/flat@8Kx12", 1e6);
}

TEST_CASE("three levels are not proposed where ranks could not have equal parts", "[three_level]") {
    const auto is_proposed = [](const std::vector<int>& sizes) {
        const Machine machine = machine_of(sizes);
        const MachineCosts costs = costs_with({5e-3, 45e-3, 40e-3}, 3);
        const Request request{Collective::allreduce, 1 << 20, 1, 0, true};
        const auto all = Pricing(request, machine, costs).all();
        return std::any_of(all.begin(), all.end(),
                           [](const Candidate& candidate) { return is_three_level(*candidate.algorithm); });
    };
    CHECK(is_proposed({4, 4, 4}));
    CHECK(is_proposed({4, 2, 6}));
    CHECK_FALSE(is_proposed({7, 6, 5}));
}

TEST_CASE("two near sites and one across an ocean combine on three levels, if one copy less counts",
          "[three_level]") {
    const Machine machine = machine_of({4, 4, 4});
    MachineCosts costs = costs_with({5e-3, 45e-3, 40e-3}, 3);
    costs.shares_ports = true;
    for (int c = 0; c < 3; ++c) {
        MachineCosts::Cluster& cluster = costs.cluster(c);
        cluster.nic_out = cluster.nic_in = cluster.uplink_out = cluster.uplink_in = 12.5e6;
    }
    const auto chosen = [&](Bytes bytes) {
        const Request request{Collective::allreduce, bytes / 8, 8, 0, true};
        const Plan plan = choose_plan(request, machine, {}, costs);
        const double three_level = test::simulated_seconds(
            choose_plan(request, machine, parse_rules("three-level/flat@8Kx8"), costs), machine, costs);
        const double rsag = test::simulated_seconds(
            choose_plan(request, machine, parse_rules("rsag/flat@8Kx4"), costs), machine, costs);
        return std::pair(is_three_level(*plan.algorithm), three_level / rsag);
    };
    const auto [middle, middle_ratio] = chosen(1 << 20);
    CHECK(middle);
    CHECK(middle_ratio < 0.97);
    const auto [large, large_ratio] = chosen(16 << 20);
    CHECK_FALSE(large);
    CHECK(large_ratio > 1);
}
