// SPDX-License-Identifier: BSD-3-Clause
//
// What it costs to plan: heuristics, prices, a whole choice, a schedule, a bound; by ranks and clusters.
//
//   build/release/bin/bench-planner
//   build/release/bin/bench-planner --benchmark_filter=Plan --benchmark_format=json

#include <algorithm>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "collectives/algorithms/registry.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/collective/lower_bound.hpp"
#include "collectives/planner/planner.hpp"
#include "collectives/trees/best_order.hpp"
#include "collectives/trees/heuristics.hpp"

namespace {

using namespace laple;

/// As Barchet-Estefanel and Mounié, 2006, draw them.
ClusterTimes drawn_times(int clusters) {
    std::mt19937_64 random(1);
    const auto draw = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    ClusterTimes times(clusters);
    for (int a = 0; a < clusters; ++a) {
        times.set_local(a, draw(0.02, 3));
        for (int b = 0; b < clusters; ++b) {
            times.set_gap(a, b, draw(0.1, 0.6));
            times.set_latency(a, b, draw(0.001, 0.015));
        }
    }
    return times;
}

/// Ranks in blocks, so many on each host.
Machine clusters_of(int ranks, int clusters, int ranks_on_host = 1) {
    std::vector<std::vector<Rank>> members(static_cast<std::size_t>(clusters));
    std::vector<Host> host_of;
    for (Rank rank = 0; rank < ranks; ++rank) {
        members[static_cast<std::size_t>(rank * clusters / ranks)].push_back(rank);
        host_of.push_back(rank / ranks_on_host);
    }
    return Machine(Topology::from_clusters(ranks, members), host_of);
}

/// With curves of as many points as laple-discover --model measures.
MachineCosts drawn_costs(int clusters) {
    std::mt19937_64 random(2);
    const auto draw = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    MachineCosts costs(clusters);
    for (int a = 0; a < clusters; ++a) {
        costs.cluster(a).nic_in = costs.cluster(a).nic_out = 125e6;
        costs.cluster(a).uplink_in = costs.cluster(a).uplink_out = 250e6;
        for (int b = 0; b < clusters; ++b) {
            MachineCosts::Link& link = costs.link(a, b);
            link.latency = a == b ? 50e-6 : draw(1e-3, 40e-3);
            const double rate = a == b ? 125e6 : draw(10e6, 100e6);
            for (Bytes bytes = 0; bytes <= 4 << 20; bytes = bytes == 0 ? 64 : 2 * bytes)
                link.gap.set(bytes, Seconds(20e-6 + static_cast<double>(bytes) / rate));
            link.stream = link.gap;
        }
    }
    return costs;
}

void Heuristics(benchmark::State& state) {
    const ClusterTimes times = drawn_times(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        for (const Heuristic& heuristic : heuristics()) benchmark::DoNotOptimize(heuristic.build(times, 0));
    }
}
BENCHMARK(Heuristics)->Arg(2)->Arg(6)->Arg(20)->Arg(64)->Unit(benchmark::kMicrosecond);

void BestOrder(benchmark::State& state) {
    const ClusterTimes times = drawn_times(static_cast<int>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(best_order(times, 0, LocalPhase::after_sends));
}
BENCHMARK(BestOrder)->Arg(4)->Arg(6)->Arg(7)->Arg(20)->Arg(64)->Unit(benchmark::kMicrosecond);

void PlanAndExpand(benchmark::State& state, Collective collective) {
    const Machine machine = clusters_of(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                                        static_cast<int>(state.range(3)));
    const MachineCosts costs = drawn_costs(static_cast<int>(state.range(1)));
    const Request request = request_for(collective, static_cast<Bytes>(state.range(2)));
    const Rank rank = machine.rank_count() / 2;
    for (auto _ : state) {
        const Plan plan = choose_plan(request, machine, {}, costs);
        if (!plan.is_native()) benchmark::DoNotOptimize(expand(plan, machine, rank));
    }
}
/// Ranks, clusters, bytes, ranks on a host.
void sizes(benchmark::internal::Benchmark* bench) {
    for (const std::int64_t bytes : {8, 64 << 10, 1 << 20}) {
        bench->Args({16, 4, bytes, 1});
        bench->Args({88, 6, bytes, 1});
        bench->Args({4096, 64, bytes, 1});
        bench->Args({4096, 8, bytes, 64});
    }
    bench->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(PlanAndExpand, bcast, Collective::bcast)->Apply(sizes);
BENCHMARK_CAPTURE(PlanAndExpand, reduce, Collective::reduce)->Apply(sizes);
BENCHMARK_CAPTURE(PlanAndExpand, allreduce, Collective::allreduce)->Apply(sizes);
BENCHMARK_CAPTURE(PlanAndExpand, allgather, Collective::allgather)->Apply(sizes);

void Expand(benchmark::State& state) {
    const Machine machine = clusters_of(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                                        static_cast<int>(state.range(3)));
    const Request request = request_for(Collective::bcast, static_cast<Bytes>(state.range(2)));
    const Plan plan{request, parse_algorithm("multi-leader-flat/chain@8K", Collective::bcast), ""};
    for (auto _ : state) benchmark::DoNotOptimize(expand(plan, machine, machine.rank_count() / 2));
}
BENCHMARK(Expand)->Apply(sizes);

void Bound(benchmark::State& state) {
    const int clusters = static_cast<int>(state.range(0));
    Network network;
    network.nic = 125e6;
    std::vector<int> cluster_of_node;
    for (int c = 0; c < clusters; ++c) {
        network.clusters.push_back({"", c});
        network.sites.push_back({"", 250e6});
        network.latency.emplace_back(static_cast<std::size_t>(clusters), Seconds(10e-3));
        network.link.emplace_back(static_cast<std::size_t>(clusters), 1e9);
        for (int node = 0; node < 16; ++node) cluster_of_node.push_back(c);
    }
    for (auto _ : state)
        benchmark::DoNotOptimize(lower_bound(Collective::allreduce, 1 << 20, 0, cluster_of_node, network));
}
BENCHMARK(Bound)->Arg(4)->Arg(6)->Arg(12)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
