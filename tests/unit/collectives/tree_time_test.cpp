// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/tree_time.hpp"

#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/hierarchy.hpp"
#include "collectives/plan.hpp"
#include "collectives/simulator.hpp"
#include "support/random_topology.hpp"

using namespace laple;

namespace {

constexpr double kGap = 1e-3;
constexpr double kLatency = 2e-2;

/// A tree of one homogeneous cluster.
struct OneCluster {
    Tree tree;
    EdgeTimes edges;

    OneCluster(const char* shape, int ranks)
        : tree(Tree::lone_root(ranks, 0)), edges(std::vector<int>(static_cast<std::size_t>(ranks), 0), 1) {
        edges.set(0, 0, kGap, kLatency);
        const ShapeLinks links = links_of(*shape_named(shape), ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            for (const int child : links.children[static_cast<std::size_t>(rank)]) tree.link(rank, child);
        }
    }

    double broadcast(std::uint64_t segments) const { return broadcast_time(tree, segments, edges); }
};

double simulated(const Plan& plan, const Topology& topology, const EdgeTimes& edges) {
    SimulationOptions options;
    options.network =
        SimulatedNetwork{[&](Rank from, Rank to, Bytes) { return Seconds(edges.gap(from, to)); },
                         [&](Rank from, Rank to) { return Seconds(edges.latency(from, to)); }};
    std::vector<Schedule> schedules;
    for (Rank rank = 0; rank < topology.size(); ++rank) schedules.push_back(expand(plan, topology, rank));
    NoMemory memory;
    const SimulationResult result = Simulator<NoMemory>(schedules, topology, memory, options).run();
    REQUIRE(result.ok());
    return result.makespan.count();
}

/// Clusters with gaps about 1 ms, 50 us inside and 1 to 20 ms between them.
EdgeTimes drawn(const Topology& topology, std::mt19937_64& random) {
    const int innermost = topology.level_count() - 1;
    const int clusters = topology.group_count(innermost);
    std::vector<int> cluster_of;
    for (Rank rank = 0; rank < topology.size(); ++rank)
        cluster_of.push_back(topology.group_of(innermost, rank));
    EdgeTimes edges(cluster_of, clusters);
    std::uniform_real_distribution<> gap(0.8e-3, 1.2e-3);
    std::uniform_real_distribution<> latency(1e-3, 2e-2);
    for (int a = 0; a < clusters; ++a) {
        for (int b = 0; b < clusters; ++b) edges.set(a, b, gap(random), a == b ? 5e-5 : latency(random));
    }
    return edges;
}

/// `segments` segments of 1 KiB.
Plan plan_of(Collective collective, const char* algorithm, std::uint64_t segments, Rank root) {
    Plan plan;
    plan.request = {collective, segments * 1024, 1, root, true};
    plan.algorithm = parse_algorithm(algorithm, collective);
    return plan;
}

}  // namespace

TEST_CASE("times along trees of one cluster are seed 003's formulas", "[tree_time]") {
    for (const int ranks : {1, 2, 3, 8, 17, 64}) {
        const double others = ranks - 1;
        for (const std::uint64_t segments : {1u, 2u, 50u}) {
            const auto k = static_cast<double>(segments);
            INFO(ranks << " ranks, " << segments << " segments");
            const double latency = ranks > 1 ? kLatency : 0;
            CHECK(OneCluster("flat", ranks).broadcast(segments) == Approx(others * kGap * k + latency));
            const double pipeline = others * (kGap + kLatency) + (ranks > 1 ? kGap * (k - 1) : 0);
            CHECK(OneCluster("chain", ranks).broadcast(segments) == Approx(pipeline));
        }
    }
    // A power of two: the last rank is log2 P messages and as many latencies away.
    CHECK(OneCluster("binomial", 64).broadcast(1) == Approx(6 * kGap + 6 * kLatency));
    CHECK(OneCluster("binomial", 64).broadcast(10) == Approx(6 * kGap * 10 + 6 * kLatency));
    CHECK(OneCluster("binary", 15).broadcast(1) <= 3 * (2 * kGap + kLatency) + 1e-12);
}

TEST_CASE("a broadcast takes what the simulator says", "[tree_time]") {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 100; ++trial) {
        const Topology topology = test::random_topology(random, 24);
        if (topology.is_flat()) continue;
        const EdgeTimes edges = drawn(topology, random);
        const Rank root = trial % topology.size();
        for (const char* algorithm :
             {"flat/binomial", "binomial/flat", "spread-flat/chain@1K", "chain/binary@1K"}) {
            const Plan plan = plan_of(Collective::bcast, algorithm, 1, root);
            const Tree tree = hierarchical_tree(topology, plan.algorithm, root);
            INFO(algorithm << ", " << describe(topology) << ", root " << root);
            CHECK(broadcast_time(tree, 1, edges) == Approx(simulated(plan, topology, edges)));
        }
    }
}

TEST_CASE("pipelines take what the simulator says", "[tree_time]") {
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 60; ++trial) {
        const Topology topology = test::random_topology(random, 16);
        if (topology.is_flat()) continue;
        const EdgeTimes edges = drawn(topology, random);
        const char* const algorithm = "spread-chain/chain@1K";
        for (const std::uint64_t segments : {1u, 4u, 24u}) {
            INFO(describe(topology) << ", " << segments << " segments");
            const Plan bcast = plan_of(Collective::bcast, algorithm, segments, 0);
            const Tree tree = hierarchical_tree(topology, bcast.algorithm, 0);
            // The simulator's windows may hold a pipeline up a little.
            CHECK(broadcast_time(tree, segments, edges) ==
                  Approx(simulated(bcast, topology, edges)).epsilon(0.02));
            const Plan reduce = plan_of(Collective::reduce, algorithm, segments, 0);
            CHECK(reduction_time(tree, segments, edges) ==
                  Approx(simulated(reduce, topology, edges)).epsilon(0.02));
        }
    }
}
