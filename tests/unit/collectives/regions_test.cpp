// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/regions.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/candidates.hpp"
#include "collectives/planner.hpp"
#include "collectives/simulated_network.hpp"
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

TEST_CASE("regions are what the largest step in latency sets apart", "[regions]") {
    CHECK(regions_of({5e-3, 45e-3, 40e-3}, 3) == RegionList{{0, 1}, {2}});
    CHECK(regions_of({45e-3, 5e-3, 40e-3}, 3) == RegionList{{0, 2}, {1}});
    CHECK(regions_of({5e-3, 45e-3, 40e-3, 45e-3, 41e-3, 5e-3}, 4) == RegionList{{0, 1}, {2, 3}});
    // The larger of two steps: 1 to 5 ms, and 5 to 11.
    CHECK(regions_of({1e-3, 5e-3, 5e-3, 11e-3, 11e-3, 11e-3}, 4) == RegionList{{0, 1}, {2}, {3}});
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
    const Topology topology = of_sizes({3, 1, 5, 2, 4});
    for (const Shape shape : {kFlat, Shape{Shape::Kind::chain}, Shape{Shape::Kind::binomial}}) {
        const Regions regions(topology, {{0, 2, 4}, {1, 3}}, shape);
        for (const auto& ranks : regions.ranks()) {
            std::map<Rank, int> led;
            const int lanes = static_cast<int>(ranks.size()) * 60;
            for (int lane = 0; lane < lanes; ++lane) {
                const Rank coordinator = ranks[static_cast<std::size_t>(lane) % ranks.size()];
                std::vector<Rank> reached{coordinator};
                for (std::size_t i = 0; i < reached.size(); ++i) {
                    const RankLinks links = regions.links(coordinator, lane, reached[i]);
                    for (const Rank child : links.children) {
                        CHECK(regions.links(coordinator, lane, child).parent == reached[i]);
                        reached.push_back(child);
                    }
                    if (topology.group_of(0, reached[i]) != topology.group_of(0, coordinator) &&
                        links.parent == coordinator)
                        ++led[reached[i]];
                }
                std::sort(reached.begin(), reached.end());
                REQUIRE(reached == ranks);
            }
            // Each as often as the others of its cluster, to a tenth of all lanes.
            for (const Rank a : ranks) {
                for (const Rank b : ranks) {
                    if (topology.group_of(0, a) == topology.group_of(0, b))
                        CHECK(std::abs(led[a] - led[b]) <= lanes / 10);
                }
            }
        }
    }
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
    CHECK(middle_ratio < 0.9);
    const auto [large, large_ratio] = chosen(16 << 20);
    CHECK(large != Meeting::regional);
    CHECK(large_ratio > 1);
}
