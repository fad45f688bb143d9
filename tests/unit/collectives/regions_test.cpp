// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/regions.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/candidates.hpp"
#include "collectives/planner.hpp"
#include "collectives/simulated_network.hpp"
#include "collectives/verifier.hpp"
#include "simulated.hpp"
#include "some_costs.hpp"

using namespace laple;

namespace {

const Shape kFlat{Shape::Kind::flat};

Topology of_sizes(const std::vector<int>& sizes) {
    std::vector<std::vector<Rank>> clusters;
    Rank next = 0;
    for (const int size : sizes) {
        clusters.emplace_back();
        for (int i = 0; i < size; ++i) clusters.back().push_back(next++);
    }
    return Topology::from_clusters(next, clusters);
}

/// `latencies`: between clusters 0 and 1, 0 and 2, 1 and 2, 0 and 3, ... in seconds.
NetworkCosts costs_with(const std::vector<double>& latencies, int clusters) {
    NetworkCosts costs = test::uniform_costs(clusters, Seconds(0), 12.5e6);
    std::size_t next = 0;
    for (int b = 1; b < clusters; ++b) {
        for (int a = 0; a < b; ++a) {
            costs.link(a, b).latency = costs.link(b, a).latency = latencies.at(next++);
        }
    }
    return costs;
}

RegionList regions_of(const std::vector<double>& latencies, int clusters) {
    const std::vector<int> sizes(static_cast<std::size_t>(clusters), 2);
    return regions_by_latency(of_sizes(sizes), costs_with(latencies, clusters));
}

}  // namespace

TEST_CASE("regions are what the outermost large step in latency sets apart", "[regions]") {
    CHECK(regions_of({5e-3, 45e-3, 40e-3}, 3) == RegionList{{0, 1}, {2}});
    CHECK(regions_of({45e-3, 5e-3, 40e-3}, 3) == RegionList{{0, 2}, {1}});
    CHECK(regions_of({5e-3, 45e-3, 40e-3, 45e-3, 41e-3, 5e-3}, 4) == RegionList{{0, 1}, {2, 3}});
    // A very near pair does not hide the ocean.
    CHECK(regions_of({0.3e-3, 5e-3, 5e-3, 40e-3, 40e-3, 40e-3}, 4) == RegionList{{0, 1, 2}, {3}});
    CHECK(regions_of({0.3e-3, 5e-3, 5e-3, 8e-3, 8e-3, 8e-3}, 4) == RegionList{{0, 1}, {2}, {3}});
    CHECK(regions_of({10e-3, 10e-3, 10e-3}, 3).empty());
    CHECK(regions_of({10e-3, 15e-3, 15e-3}, 3).empty());
    CHECK(regions_of({10e-3}, 2).empty());
    CHECK(regions_of({0, 0, 0}, 3).empty());
    CHECK(regions_of({}, 1).empty());
}

TEST_CASE("groups of clusters are regions whatever the latencies", "[regions]") {
    const Topology topology = Topology::from_labels(6, {{0, 0, 0, 0, 1, 1}, {0, 0, 1, 1, 2, 2}});
    CHECK(regions_by_latency(topology, costs_with({40e-3, 40e-3, 1e-3}, 3)) == RegionList{{0, 1}, {2}});
}

TEST_CASE("the lanes drawn in regions.hpp", "[regions]") {
    const Topology topology = of_sizes({4, 4, 3});
    const Regions regions(topology, {{0, 1}, {2}}, kFlat);
    CHECK(regions.ranks() == std::vector<std::vector<Rank>>{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10}});
    CHECK(regions.region_of(6) == 0);
    CHECK(regions.region_of(8) == 1);
    const auto check = [&](Rank coordinator, int lane, Rank rank, Rank parent, std::vector<Rank> children) {
        const RankLinks links = regions.links(coordinator, lane, rank);
        INFO("lane " << lane << ", rank " << rank);
        CHECK(links.parent == parent);
        CHECK(links.children == children);
    };
    check(0, 0, 0, -1, {4, 1, 2, 3});
    check(0, 0, 4, 0, {5, 6, 7});
    check(0, 0, 3, 0, {});
    check(0, 0, 7, 4, {});
    check(5, 5, 5, -1, {1, 6, 7, 4});
    check(5, 5, 1, 5, {2, 3, 0});
    check(5, 5, 0, 1, {});
    check(9, 1, 9, -1, {10, 8});
}

TEST_CASE("in every lane a region is one tree, and its ranks are deputies in turn", "[regions]") {
    const Topology topology = of_sizes({4, 2, 3, 6});
    for (const Shape shape : {kFlat, Shape{Shape::Kind::chain}, Shape{Shape::Kind::binomial}}) {
        const Regions regions(topology, {{0, 1}, {2, 3}}, shape);
        const int lanes = 36;  // lcm of 6, 9; 4, 2, 3, 6
        std::map<Rank, int> led;
        for (int lane = 0; lane < lanes; ++lane) {
            const std::vector<Rank> coordinators = regions.coordinators(lane, lanes);
            REQUIRE(coordinators.size() == 2);
            for (std::size_t region = 0; region < 2; ++region) {
                std::vector<Rank> reached{coordinators[region]};
                ++led[reached.front()];
                for (std::size_t i = 0; i < reached.size(); ++i) {
                    for (const Rank child : regions.links(reached.front(), lane, reached[i]).children) {
                        CHECK(regions.links(reached.front(), lane, child).parent == reached[i]);
                        reached.push_back(child);
                        led[child] += topology.group_of(0, child) != topology.group_of(0, reached[i]);
                    }
                }
                std::sort(reached.begin(), reached.end());
                REQUIRE(reached == regions.ranks()[region]);
            }
        }
        for (Rank rank = 0; rank < topology.size(); ++rank) {
            const auto size = topology.members(0, topology.group_of(0, rank)).size();
            CHECK(led[rank] == lanes / static_cast<int>(size));
        }
    }
}

TEST_CASE("regional schedules are correct, whatever the regions", "[regions]") {
    const Topology interleaved = Topology::from_clusters(11, {{0, 5}, {1, 6, 9}, {2}, {3, 7, 10}, {4, 8}});
    for (const RegionList& regions : {RegionList{{0, 2, 4}, {1, 3}}, RegionList{{0}, {1, 2, 3, 4}},
                                      RegionList{{0, 1, 2, 3, 4}}, RegionList{{0}, {1}, {2}, {3}, {4}}}) {
        for (const char* name : {"regional/flat@16x12", "regional/flat@16x3", "regional/chain@64x40",
                                 "regional/binomial", "regional/binary@16"}) {
            for (const Collective collective : {Collective::allreduce, Collective::barrier}) {
                const std::uint64_t units = collective == Collective::barrier ? 0 : 500;
                Plan plan{{collective, units, 4, 0, true}, parse_algorithm(name, collective), ""};
                plan.regions = regions;
                INFO(name << ", " << regions.size() << " regions");
                REQUIRE(can_do(plan.algorithm, plan.request, interleaved));
                CHECK(verify(expand_all(plan, interleaved), plan, interleaved, 1, false) == "");
            }
        }
    }
}

TEST_CASE("a meeting in regions takes what the simulator says", "[regions]") {
    const auto check = [](const std::vector<int>& sizes, const std::vector<double>& latencies,
                          const RegionList& regions, const char* name, double far_rate) {
        const Topology topology = of_sizes(sizes);
        const int clusters = static_cast<int>(sizes.size());
        NetworkCosts costs = costs_with(latencies, clusters);
        for (int a = 0; a < clusters; ++a) {
            for (int b = 0; b < clusters; ++b) {
                if (costs.link(a, b).latency < 20e-3) continue;
                costs.link(a, b).gap = costs.link(a, b).stream =
                    Curve({{0, Seconds(20e-6)}, {1 << 20, Seconds((1 << 20) / far_rate)}});
            }
        }
        const Request request{Collective::allreduce, 1 << 20, 4, 0, true};
        const auto candidate =
            Pricing(request, topology, costs).price(parse_algorithm(name, Collective::allreduce));
        REQUIRE(candidate.has_value());
        CHECK(candidate->regions == regions);
        Plan plan{request, candidate->algorithm, ""};
        plan.regions = candidate->regions;
        const double truth = test::simulated_seconds(plan, topology, costs);
        INFO(name << ", " << far_rate << " B/s: " << candidate->seconds << " s, simulated " << truth);
        CHECK(candidate->seconds < 1.35 * truth);
        CHECK(candidate->seconds > 0.8 * truth);
    };
    const RegionList both{{0, 1}, {2, 3}};
    const std::vector<double> far{5e-3, 45e-3, 45e-3, 45e-3, 45e-3, 5e-3};
    check({4, 4, 4, 4}, far, both, "regional/flat@8Kx8", 12.5e6);
    check({4, 4, 4, 4}, far, both, "regional/flat@8Kx8", 1e6);
    check({4, 2, 6}, {5e-3, 45e-3, 45e-3}, {{0, 1}, {2}}, "regional/flat@8Kx12", 12.5e6);
    check({4, 2, 6}, {5e-3, 45e-3, 45e-3}, {{0, 1}, {2}}, "regional/flat@8Kx12", 1e6);
}

TEST_CASE("there are no regional meetings where ranks could not have equal parts", "[regions]") {
    const auto has_regional = [](const std::vector<int>& sizes) {
        const Topology topology = of_sizes(sizes);
        const NetworkCosts costs = costs_with({5e-3, 45e-3, 40e-3}, 3);
        const Request request{Collective::allreduce, 1 << 20, 1, 0, true};
        const auto all = Pricing(request, topology, costs).all();
        return std::any_of(all.begin(), all.end(), [](const Candidate& candidate) {
            return candidate.algorithm.meeting == Meeting::regional;
        });
    };
    CHECK(has_regional({4, 4, 4}));
    CHECK(has_regional({4, 2, 6}));
    CHECK_FALSE(has_regional({7, 6, 5}));
}

TEST_CASE("two near sites and one across an ocean combine in regions, if one copy less counts", "[regions]") {
    const Topology topology = of_sizes({4, 4, 4});
    NetworkCosts costs = costs_with({5e-3, 45e-3, 40e-3}, 3);
    costs.shares_ports = true;
    for (int c = 0; c < 3; ++c) {
        NetworkCosts::Cluster& cluster = costs.cluster(c);
        cluster.nic_out = cluster.nic_in = cluster.uplink_out = cluster.uplink_in = 12.5e6;
    }
    const auto chosen = [&](Bytes bytes) {
        const Request request{Collective::allreduce, bytes / 8, 8, 0, true};
        const Plan plan = choose_plan(request, topology, {}, costs);
        const double regional = test::simulated_seconds(
            choose_plan(request, topology, parse_rules("regional/flat@8Kx8"), costs), topology, costs);
        const double scatter = test::simulated_seconds(
            choose_plan(request, topology, parse_rules("scatter/flat@8Kx4"), costs), topology, costs);
        return std::pair(plan.algorithm.meeting, regional / scatter);
    };
    const auto [middle, middle_ratio] = chosen(1 << 20);
    CHECK(middle == Meeting::regional);
    CHECK(middle_ratio < 0.97);
    const auto [large, large_ratio] = chosen(16 << 20);
    CHECK(large != Meeting::regional);
    CHECK(large_ratio > 1);
}
