// SPDX-License-Identifier: BSD-3-Clause
#include "topology/clustering.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/random.hpp"

using laple::cluster_nodes;
using laple::Clusters;
using laple::doubtful_pairs;
using laple::eco_clusters;
using laple::LatencyMatrix;
using laple::NodePair;
using laple::Seconds;

using namespace laple::test;

namespace {

constexpr double kUs = 1e-6;
constexpr double kMs = 1e-3;

/// Sites of `sizes` nodes; node numbers ascend from site to site.
struct Machine {
    std::vector<int> sizes;
    std::function<double(int)> lan;       // one-way latency in a site, in seconds
    std::function<double(int, int)> wan;  // between sites a < b, in seconds
};

Clusters sites_of(const std::vector<int>& sizes) {
    Clusters sites;
    int next = 0;
    for (const int size : sizes) {
        std::vector<int> members(static_cast<std::size_t>(size));
        std::iota(members.begin(), members.end(), next);
        next += size;
        sites.push_back(members);
    }
    return sites;
}

using Noise = std::function<double()>;  // a factor for a measured latency

LatencyMatrix measure(const Machine& machine, const Noise& noise) {
    std::vector<int> site_of;
    for (std::size_t site = 0; site < machine.sizes.size(); ++site) {
        site_of.insert(site_of.end(), static_cast<std::size_t>(machine.sizes[site]), static_cast<int>(site));
    }
    LatencyMatrix matrix(static_cast<int>(site_of.size()));
    for (int a = 0; a < matrix.nodes(); ++a) {
        for (int b = a + 1; b < matrix.nodes(); ++b) {
            const int site_a = site_of[static_cast<std::size_t>(a)];
            const int site_b = site_of[static_cast<std::size_t>(b)];
            const double latency = site_a == site_b ? machine.lan(site_a) : machine.wan(site_a, site_b);
            matrix.set(a, b, Seconds(latency * noise()));
        }
    }
    return matrix;
}

LatencyMatrix measure(const Machine& machine) {
    return measure(machine, [] { return 1.0; });
}

Machine uniform_machine(std::vector<int> sizes, double lan, double wan) {
    return {std::move(sizes), [=](int) { return lan; }, [=](int, int) { return wan; }};
}

/// The same nodes under new numbers: node i becomes node order[i].
LatencyMatrix renumbered(const LatencyMatrix& matrix, const std::vector<int>& order) {
    LatencyMatrix result(matrix.nodes());
    for (int a = 0; a < matrix.nodes(); ++a) {
        for (int b = 0; b < a; ++b) {
            result.set(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)],
                       matrix.at(a, b));
        }
    }
    return result;
}

Clusters renumbered(Clusters clusters, const std::vector<int>& order) {
    for (auto& members : clusters) {
        for (int& node : members) node = order[static_cast<std::size_t>(node)];
        std::sort(members.begin(), members.end());
    }
    std::sort(clusters.begin(), clusters.end());
    return clusters;
}

/// Latencies between subnets of one site (Barchet-Estefanel, LaPIe, 2005), in microseconds.
const std::vector<std::vector<double>> kSubnetLatencies = {
    {0, 61.53, 105.25, 37.99, 103.45, 69.96},   {61.53, 0, 224.98, 61.52, 139.04, 137.52},
    {105.25, 224.98, 0, 61.49, 207.98, 129.45}, {37.99, 61.52, 61.49, 0, 66.49, 61.51},
    {103.45, 139.04, 207.98, 66.49, 0, 123.97}, {69.96, 137.52, 129.45, 61.51, 123.97, 0},
};

}  // namespace

TEST_CASE("without a pair there is nothing to tell apart", "[clustering]") {
    CHECK(cluster_nodes(LatencyMatrix(0)).empty());
    CHECK(cluster_nodes(LatencyMatrix(1)) == Clusters{{0}});
    CHECK(eco_clusters(LatencyMatrix(0), 0.3).empty());
    CHECK(eco_clusters(LatencyMatrix(1), 0.3) == Clusters{{0}});
}

TEST_CASE("two nodes are one cluster, however far", "[clustering]") {
    const double latency = GENERATE(0.0, 50 * kUs, 10 * kMs);
    CHECK(cluster_nodes(measure(uniform_machine({1, 1}, 0, latency))) == Clusters{{0, 1}});
}

TEST_CASE("equal latencies are one cluster", "[clustering]") {
    const int nodes = GENERATE(3, 4, 8, 33);
    const double latency = GENERATE(0.0, 50 * kUs, 10 * kMs);
    CHECK(cluster_nodes(measure(uniform_machine({nodes}, latency, 0))) == sites_of({nodes}));
}

TEST_CASE("ECO finds sites where noise is within its tolerance", "[clustering]") {
    Random random(1996);
    for (int i = 0; i < 60; ++i) {
        // Three clusters, 40 to 60 us and 5 ms
        const Machine machine = uniform_machine({16, 16, 8}, 45 * kUs, 5 * kMs);
        const auto matrix = measure(machine, [&] { return uniform(random, 1.0, 1.29); });
        CHECK(eco_clusters(matrix, 0.30) == sites_of(machine.sizes));
        CHECK(cluster_nodes(matrix) == sites_of(machine.sizes));
    }
}

TEST_CASE("ECO keeps within the tolerance of a subnet's shortest edge", "[clustering]") {
    // Each node is near enough to the one before, but the last is not to the first two.
    LatencyMatrix matrix = measure(uniform_machine({4}, 9 * kUs, 0));
    matrix.set(0, 1, Seconds(1.0 * kUs));
    matrix.set(1, 2, Seconds(1.2 * kUs));
    matrix.set(2, 3, Seconds(1.5 * kUs));
    CHECK(eco_clusters(matrix, 0.30) == Clusters{{0, 1, 2}, {3}});
}

TEST_CASE("ECO splits a LAN that noise beyond its tolerance disturbs, the sites stay whole", "[clustering]") {
    Random random(7);
    const Machine machine = uniform_machine({8, 8}, 100 * kUs, 2 * kMs);
    const auto matrix = measure(machine, [&] { return uniform(random, 1.0, 2.5); });
    CHECK(eco_clusters(matrix, 0.30).size() > 2);
    CHECK(cluster_nodes(matrix) == sites_of(machine.sizes));
}

TEST_CASE(
    "the subnets of Barchet-Estefanel and Mounié as nodes: ECO joins A and D only, and they are no level",
    "[clustering]") {
    LatencyMatrix matrix(6);
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < a; ++b) {
            matrix.set(
                a, b,
                Seconds(kUs * kSubnetLatencies[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]));
        }
    }
    CHECK(eco_clusters(matrix, 0.30) == Clusters{{0, 3}, {1}, {2}, {4}, {5}});
    CHECK(cluster_nodes(matrix) == Clusters{{0, 1, 2, 3, 4, 5}});
}

TEST_CASE("the same subnets with nodes in them", "[clustering]") {
    const auto between = [](int a, int b) {
        return kUs * kSubnetLatencies[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
    };
    SECTION("nodes much nearer to each other are found as the subnets") {
        const Machine machine{{8, 4, 3, 5, 2, 6}, [](int) { return 9 * kUs; }, between};
        CHECK(eco_clusters(measure(machine), 0.30) == sites_of(machine.sizes));
        CHECK(cluster_nodes(measure(machine)) == sites_of(machine.sizes));
    }
    SECTION("nodes hardly nearer to each other are ECO's subnets, but no level") {
        const Machine machine{{8, 4, 3, 5, 2, 6}, [](int) { return 25 * kUs; }, between};
        CHECK(eco_clusters(measure(machine), 0.30) == sites_of(machine.sizes));
        CHECK(cluster_nodes(measure(machine)).size() == 1);
    }
}

TEST_CASE("the map of LaPIe's grid: six clusters of 88 nodes, two of one node", "[clustering]") {
    // The sizes are the seed's; it has no latencies for them.
    const Machine machine = uniform_machine({31, 31, 6, 1, 1, 18}, 60 * kUs, 5 * kMs);
    CHECK(cluster_nodes(measure(machine)) == sites_of(machine.sizes));
}

TEST_CASE("the level ratio decides what is apart", "[clustering]") {
    const auto matrix = measure(uniform_machine({4, 4}, 100 * kUs, 250 * kUs));
    CHECK(cluster_nodes(matrix).size() == 1);
    CHECK(cluster_nodes(matrix, {.tolerance = 0.30, .level_ratio = 2.0}).size() == 2);
}

TEST_CASE("twin machines belong to the LAN around them", "[clustering]") {
    // Nodes 0 and 1 are virtual machines on one host, ten times nearer than the other six of the LAN.
    const auto with_twins = [](LatencyMatrix matrix) {
        matrix.set(0, 1, Seconds(10 * kUs));
        return matrix;
    };
    CHECK(cluster_nodes(with_twins(measure(uniform_machine({8}, 100 * kUs, 0)))) == sites_of({8}));
    CHECK(cluster_nodes(with_twins(measure(uniform_machine({8, 8}, 100 * kUs, 10 * kMs)))) ==
          sites_of({8, 8}));
    CHECK(cluster_nodes(with_twins(measure(uniform_machine({5, 1}, 100 * kUs, 10 * kMs)))) ==
          sites_of({5, 1}));
}

TEST_CASE("a node that answers late belongs to the LAN around it", "[clustering]") {
    // Its processor is busy: all that it takes part in is measured 25 times too long.
    const auto with_late_node = [](LatencyMatrix matrix) {
        for (const int other : {0, 1, 2}) matrix.set(3, other, Seconds(200 * kUs));
        return matrix;
    };
    CHECK(cluster_nodes(with_late_node(measure(uniform_machine({4}, 8 * kUs, 0)))) == sites_of({4}));
    CHECK(cluster_nodes(with_late_node(measure(uniform_machine({4, 4}, 8 * kUs, 10 * kMs)))) ==
          sites_of({4, 4}));
}

TEST_CASE("a site of one node is not joined with a near site of many", "[clustering]") {
    for (const std::vector<int>& sizes : {std::vector<int>{5, 1}, {4, 1, 1}, {6, 1, 1, 1}})
        CHECK(cluster_nodes(measure(uniform_machine(sizes, 15 * kUs, 300 * kUs))) == sites_of(sizes));
    // Beside others that are far: two sites of which one has a near neighbour.
    Machine machine = uniform_machine({5, 1, 3}, 15 * kUs, 0);
    machine.wan = [](int a, int b) { return (a == 0 && b == 1 ? 370 * kUs : 3.2 * kMs); };
    CHECK(cluster_nodes(measure(machine)) == sites_of({5, 1, 3}));
    // Fewer prove nothing: they may be twins.
    CHECK(cluster_nodes(measure(uniform_machine({3, 1, 1, 1, 1}, 15 * kUs, 300 * kUs))) == sites_of({7}));
}

TEST_CASE("sites of one node are not joined with each other", "[clustering]") {
    SECTION("all sites equally far") {
        const auto sizes =
            GENERATE(std::vector<int>{4, 1, 1, 1}, std::vector<int>{2, 1, 1}, std::vector<int>{1, 1, 2, 1, 1},
                     std::vector<int>{5, 1, 1, 1, 1, 1, 1, 1, 1});
        CHECK(cluster_nodes(measure(uniform_machine(sizes, 80 * kUs, 10 * kMs))) == sites_of(sizes));
    }
    SECTION("two of them nearer to each other than to the rest, but far for a LAN") {
        const Machine machine{{4, 3, 1, 1},
                              [](int) { return 100 * kUs; },
                              [](int a, int b) { return a == 2 && b == 3 ? 1 * kMs : 25 * kMs; }};
        CHECK(cluster_nodes(measure(machine)) == sites_of(machine.sizes));
    }
}

TEST_CASE("sites may have very different networks", "[clustering]") {
    const auto sizes = GENERATE(std::vector<int>{8, 8}, std::vector<int>{8, 2}, std::vector<int>{2, 8});
    const double wan = GENERATE(1 * kMs, 10 * kMs);
    const Machine machine{sizes, [](int site) { return site == 0 ? 1.5 * kUs : 50 * kUs; },
                          [=](int, int) { return wan; }};
    CHECK(cluster_nodes(measure(machine)) == sites_of(sizes));
}

TEST_CASE("a region of sites is not one of them", "[clustering]") {
    const Machine machine{{4, 4, 4, 1},
                          [](int) { return 100 * kUs; },
                          [](int a, int b) { return a == 0 && b == 1 ? 1 * kMs : 45 * kMs; }};
    CHECK(cluster_nodes(measure(machine)) == sites_of(machine.sizes));
}

TEST_CASE("clusters do not depend on the numbering of nodes", "[clustering]") {
    Random random(3);
    for (int i = 0; i < 200; ++i) {
        const std::vector<int> sizes = {5, 4, 3, 2, 1, 1};
        const auto matrix =
            measure(uniform_machine(sizes, 80 * kUs, 7 * kMs), [&] { return uniform(random, 1.0, 1.3); });
        std::vector<int> order(16);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        const Clusters clusters = cluster_nodes(renumbered(matrix, order));
        CHECK(clusters == renumbered(sites_of(sizes), order));
        CHECK(clusters == cluster_nodes(renumbered(matrix, order)));
    }
}

TEST_CASE("any matrix gives a partition in order", "[clustering]") {
    Random random(11);
    for (int i = 0; i < 2000; ++i) {
        LatencyMatrix matrix(uniform_int(random, 1, 12));
        const int values = uniform_int(random, 1, 6);  // few different ones make ties
        for (int a = 0; a < matrix.nodes(); ++a) {
            for (int b = 0; b < a; ++b) {
                matrix.set(a, b, Seconds(1e-6 * std::pow(10, uniform_int(random, 0, values)) - 1e-6));
            }
        }
        for (const Clusters& clusters : {cluster_nodes(matrix), eco_clusters(matrix, 0.30)}) {
            std::vector<int> all;
            for (const auto& members : clusters) {
                REQUIRE(!members.empty());
                REQUIRE(std::is_sorted(members.begin(), members.end()));
                all.insert(all.end(), members.begin(), members.end());
            }
            REQUIRE(std::is_sorted(clusters.begin(), clusters.end()));
            std::sort(all.begin(), all.end());
            REQUIRE(Clusters{all} == sites_of({matrix.nodes()}));
        }
    }
}

TEST_CASE("random machines are found exactly", "[clustering]") {
    Random random(2006);
    for (int i = 0; i < 3000; ++i) {
        Machine machine;
        const int sites = uniform_int(random, 2, 12);
        for (int site = 0; site < sites; ++site) machine.sizes.push_back(uniform_int(random, 1, 20));
        // With no two nodes at one site there would be no LAN to compare with.
        machine.sizes[static_cast<std::size_t>(uniform_int(random, 0, sites - 1))] =
            uniform_int(random, 2, 20);

        const double lan = 150 * kUs;
        const double ratio = std::exp(uniform(random, std::log(5), std::log(1000)));
        const double noise = uniform(random, 0, 0.30);
        machine.lan = [=](int) { return lan; };
        machine.wan = [=](int, int) { return ratio * lan; };
        const auto matrix = measure(machine, [&] { return uniform(random, 1 - noise / 2, 1 + noise / 2); });
        INFO("machine " << i << ": ratio " << ratio << ", noise " << noise);
        REQUIRE(cluster_nodes(matrix) == sites_of(machine.sizes));
        REQUIRE(cluster_nodes(measure(machine, [&] { return uniform(random, 1, 1 + noise); })) ==
                sites_of(machine.sizes));
    }
}

TEST_CASE("networks three times apart are found through noise in 999 of 1000 cases", "[clustering]") {
    constexpr int kMachines = 10000;
    Random random(1996);
    int found = 0;
    for (int i = 0; i < kMachines; ++i) {
        Machine machine;
        machine.sizes.assign(static_cast<std::size_t>(uniform_int(random, 2, 12)), 2);
        const int nodes = uniform_int(random, 2 * static_cast<int>(machine.sizes.size()), 40);
        for (int left = nodes - 2 * static_cast<int>(machine.sizes.size()); left > 0; --left) {
            const int site = uniform_int(random, 0, static_cast<int>(machine.sizes.size()) - 1);
            ++machine.sizes[static_cast<std::size_t>(site)];
        }
        const double lan = 100 * kUs;
        const double ratio = std::exp(uniform(random, std::log(3), std::log(1000)));
        const double noise = uniform(random, 0, 0.30);
        machine.lan = [=](int) { return lan; };
        machine.wan = [=](int, int) { return ratio * lan; };
        const auto matrix = measure(machine, [&] { return uniform(random, 1, 1 + noise); });
        found += cluster_nodes(matrix) == sites_of(machine.sizes) ? 1 : 0;
    }
    CHECK(found >= 0.999 * kMachines);
}

// The emulated grids (bench/grid). Ranks share processors there, so that a latency may be measured too long,
// by up to 2.5 times in a LAN. What the processor adds to a LAN's latency it adds to a WAN's as well.
TEST_CASE("grids whose hosts share processors are found exactly", "[clustering]") {
    struct Grid {
        std::string name;
        std::vector<int> sizes;
        std::vector<double> delays;  // one for all pairs of sites, or one for each, in ms
        double slowest_lan;          // in us
    };
    const auto grid = GENERATE(values<Grid>({
        {"wan4x4", {4, 4, 4, 4}, {10}, 400},
        {"metro2x8", {8, 8}, {2}, 400},
        {"hetero6", {5, 4, 3, 2, 1, 1}, {}, 160},
        {"ocean3x4", {4, 4, 4}, {5, 40, 45}, 400},
        {"single8", {8}, {}, 400},
    }));
    Random random(2020);
    for (int i = 0; i < 2000; ++i) {
        std::vector<double> delays = grid.delays;
        const std::size_t pairs = grid.sizes.size() * (grid.sizes.size() - 1) / 2;
        if (delays.size() == 1) delays.assign(pairs, delays[0]);
        if (delays.empty()) {
            for (std::size_t pair = 0; pair < pairs; ++pair) {
                delays.push_back(1 + 24.0 * static_cast<double>(pair) / static_cast<double>(pairs - 1));
            }
        }
        std::shuffle(delays.begin(), delays.end(), random);
        const double lan = uniform(random, 50, grid.slowest_lan) * kUs;
        const auto disturbed_lan = [&] { return lan * uniform(random, 1, 2.5); };
        const Machine machine{grid.sizes, [&](int) { return disturbed_lan(); },
                              [&](int a, int b) {
                                  const auto pair = static_cast<std::size_t>(b * (b - 1) / 2 + a);
                                  return delays[pair] * kMs + disturbed_lan();
                              }};
        INFO(grid.name << ", case " << i << ": LAN " << lan / kUs << " us");
        REQUIRE(cluster_nodes(measure(machine)) == sites_of(grid.sizes));
    }
}

TEST_CASE("medians in and between groups", "[clustering]") {
    LatencyMatrix matrix(4);
    matrix.set(0, 1, Seconds(1));
    matrix.set(0, 2, Seconds(2));
    matrix.set(1, 2, Seconds(9));
    matrix.set(0, 3, Seconds(4));
    matrix.set(1, 3, Seconds(5));
    matrix.set(2, 3, Seconds(6));
    CHECK(median_latency(matrix, {2}) == Seconds(0));
    CHECK(median_latency(matrix, {0, 1, 2}) == Seconds(2));
    CHECK(median_latency(matrix, {0, 1, 2}, {3}) == Seconds(5));
}

TEST_CASE("pairs that look disturbed are named", "[clustering]") {
    auto matrix = measure(uniform_machine({4, 3}, 100 * kUs, 2 * kMs));
    const Clusters sites = sites_of({4, 3});
    CHECK(doubtful_pairs(matrix, sites).empty());
    SECTION("in a cluster") {
        matrix.set(3, 1, Seconds(201 * kUs));
        CHECK(doubtful_pairs(matrix, sites) == std::vector<NodePair>{{1, 3}});
    }
    SECTION("between clusters, where a way round is shorter") {
        matrix.set(2, 5, Seconds(4 * kMs));
        CHECK(doubtful_pairs(matrix, sites) == std::vector<NodePair>{{2, 5}});
    }
    SECTION("between clusters that are hardly apart, all pairs") {
        const std::vector<NodePair> all = {{0, 2}, {0, 3}, {1, 2}, {1, 3}};
        const auto doubtful = [](double lan, double wan) {
            return doubtful_pairs(measure(uniform_machine({2, 2}, lan, wan)), sites_of({2, 2}));
        };
        CHECK(doubtful(100 * kUs, 900 * kUs) == all);
        CHECK(doubtful(100 * kUs, 1100 * kUs).empty());
        CHECK(doubtful(10 * kUs, 400 * kUs) == all);
        CHECK(doubtful(10 * kUs, 600 * kUs).empty());
    }
    SECTION("a pair alone is beyond doubt") {
        CHECK(doubtful_pairs(measure(uniform_machine({1, 1}, 0, 1)), {{0, 1}}).empty());
    }
}

namespace {

/// Zones of `sizes` nodes in regions: zone z is in region region_of[z].
Machine regional_machine(std::vector<int> sizes, std::vector<int> region_of, double between_zones,
                         double between_regions) {
    return {std::move(sizes), [](int) { return 50 * kUs; },
            [=](int a, int b) {
                const bool together =
                    region_of[static_cast<std::size_t>(a)] == region_of[static_cast<std::size_t>(b)];
                return together ? between_zones : between_regions;
            }};
}

std::vector<Clusters> levels_around(const LatencyMatrix& matrix, const Clusters& clusters) {
    return laple::cluster_levels(laple::quotient(matrix, clusters), clusters);
}

}  // namespace

TEST_CASE("zones in regions give two levels") {
    const Machine machine = regional_machine({4, 3, 1, 5, 2, 2}, {0, 0, 1, 1, 1, 2}, 1 * kMs, 30 * kMs);
    Random random(7);
    for (int run = 0; run < 100; ++run) {
        const LatencyMatrix matrix = measure(machine, [&] { return uniform(random, 1.0, 1.25); });
        std::vector<int> order(static_cast<std::size_t>(matrix.nodes()));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        const LatencyMatrix mixed = renumbered(matrix, order);
        const auto levels = levels_around(mixed, cluster_nodes(mixed));
        REQUIRE(levels.size() == 2);
        CHECK(levels[0] == renumbered(sites_of({7, 8, 2}), order));
        CHECK(levels[1] == renumbered(sites_of({4, 3, 1, 5, 2, 2}), order));
    }
}

TEST_CASE("sites that differ by less than the ratio of outer levels are not grouped") {
    const Machine machine = regional_machine({4, 4, 4, 4}, {0, 0, 1, 1}, 5 * kMs, 40 * kMs);
    const LatencyMatrix matrix = measure(machine);
    const Clusters sites = cluster_nodes(matrix);
    CHECK(sites == sites_of({4, 4, 4, 4}));
    CHECK(levels_around(matrix, sites) == std::vector<Clusters>{sites});
}

TEST_CASE("one cluster has no levels around it") {
    const LatencyMatrix matrix = measure(uniform_machine({6}, 40 * kUs, 0));
    const Clusters one = cluster_nodes(matrix);
    CHECK(levels_around(matrix, one) == std::vector<Clusters>{one});
    CHECK(levels_around(LatencyMatrix(1), {{0}}) == std::vector<Clusters>{Clusters{{0}}});
}

TEST_CASE("the seed's subnets, clustered by plain ECO, come out inside their sites") {
    // 3 x IDPOT, 2 x GdX and Toulouse, with the latencies of bench/smpi's grid5000-88.
    const std::vector<std::vector<double>> between = {{0, 103.45, 5000, 5000, 5000, 5000},
                                                      {0, 0, 5000, 5000, 5000, 5000},
                                                      {0, 0, 0, 61.53, 105.25, 5000},
                                                      {0, 0, 0, 0, 224.98, 5000},
                                                      {0, 0, 0, 0, 0, 5000}};
    const Machine machine{{31, 29, 6, 1, 1, 20},
                          [](int) { return 35 * kUs; },
                          [&](int a, int b) {
                              return kUs * between[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
                          }};
    const LatencyMatrix matrix = measure(machine);
    const auto levels = levels_around(matrix, eco_clusters(matrix, 0.30));
    CHECK(levels == std::vector<Clusters>{sites_of({60, 8, 20}), sites_of(machine.sizes)});
}

TEST_CASE("hosts that are far from each other are clusters of their own", "[clustering]") {
    LatencyMatrix matrix(5);  // two on a LAN, three alone
    for (int a = 0; a < 5; ++a) {
        for (int b = 0; b < a; ++b) matrix.set(a, b, Seconds(a == 1 ? 50 * kUs : 10 * kMs));
    }
    CHECK(laple::split_where_far(matrix, {{0, 1}, {2, 3, 4}}) == Clusters{{0, 1}, {2}, {3}, {4}});
    CHECK(laple::split_where_far(matrix, {{0, 1, 2, 3, 4}}) == Clusters{{0}, {1}, {2}, {3}, {4}});
    CHECK(laple::split_where_far(matrix, {{0, 1}, {2}, {3, 4}}) == Clusters{{0, 1}, {2}, {3}, {4}});
}
