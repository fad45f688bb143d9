// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/strategy.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/simulated_network.hpp"
#include "collectives/strategy_steps.hpp"

using namespace laple;

namespace {

/// A block is the sorted list of ranks whose contributions it holds, each as often as it has been combined.
class Contributions {
  public:
    using Value = std::vector<Rank>;

    Contributions(const Strategy& strategy, std::span<const Schedule> schedules) {
        for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
            const std::uint32_t blocks = schedules[rank].blocks.count();
            auto& buffers = memory_.emplace_back(2, std::vector<Value>(blocks));
            for (const auto slots : schedules[rank].temporary_slots) buffers.emplace_back(slots);
            for (std::uint32_t block = 0; block < blocks; ++block) {
                const auto self = static_cast<Rank>(rank);
                if (has_input(strategy.collective)) buffers[kInput][block] = {self};
                if (starts_with(strategy.collective, self, block)) buffers[kResult][block] = {self};
            }
        }
    }

    Value load(Rank rank, Place place, std::uint32_t) {
        const Value& value = cell(rank, place);
        if (value.empty()) throw std::runtime_error("reads what was not written");
        return value;
    }
    void store(Rank rank, Place place, std::uint32_t, Value value) { cell(rank, place) = std::move(value); }
    static Value combine(const Value& left, const Value& right) {
        Value both(left);
        both.insert(both.end(), right.begin(), right.end());
        std::sort(both.begin(), both.end());
        return both;
    }
    Value& cell(Rank rank, Place place) {
        return memory_[static_cast<std::size_t>(rank)].at(place.buffer).at(place.slot);
    }

  private:
    static bool has_input(LocalCollective collective) {
        using enum LocalCollective;
        return collective == reduce || collective == allreduce || collective == barrier ||
               collective == reduce_scatter;
    }
    static bool starts_with(LocalCollective collective, Rank rank, std::uint32_t block) {
        using enum LocalCollective;
        if (collective == bcast || collective == scatter) return rank == 0;
        return (collective == gather || collective == allgather) && static_cast<Rank>(block) == rank;
    }

    std::vector<std::vector<std::vector<Value>>> memory_;  // by rank, buffer, slot
};

std::vector<Rank> everybody(int ranks) {
    std::vector<Rank> all;
    for (Rank rank = 0; rank < ranks; ++rank) all.push_back(rank);
    return all;
}

/// Whether `rank` has to end with that block.
bool needs(LocalCollective collective, Rank rank, std::uint32_t block) {
    using enum LocalCollective;
    if (collective == reduce || collective == gather) return rank == 0;
    if (collective == scatter || collective == reduce_scatter) return static_cast<Rank>(block) == rank;
    return true;
}

std::vector<Rank> expected(LocalCollective collective, int ranks, std::uint32_t block) {
    using enum LocalCollective;
    if (collective == bcast || collective == scatter) return {0};
    if (collective == gather || collective == allgather) return {static_cast<Rank>(block)};
    return everybody(ranks);
}

std::vector<Schedule> schedules_of(const Strategy& strategy, int ranks, Bytes bytes, Bytes segment) {
    std::vector<Schedule> schedules;
    for (int self = 0; self < ranks; ++self)
        schedules.push_back(schedule_of(strategy, ranks, self, bytes, segment));
    return schedules;
}

double simulated(const Strategy& strategy, const LocalCluster& cluster, Bytes bytes, Bytes segment) {
    const auto schedules = schedules_of(strategy, cluster.ranks, bytes, segment);
    const bool is_stream = schedules.front().blocks.count() > 1 && strategy.cut == Strategy::Cut::segments;
    SimulationOptions options;
    options.network = simulated_network(cluster, is_stream);
    NoMemory memory;
    const Topology topology = Topology::from_clusters(cluster.ranks, {everybody(cluster.ranks)});
    const SimulationResult result = Simulator<NoMemory>(schedules, topology, memory, options).run();
    REQUIRE(result.ok());
    return result.makespan.count();
}

LocalCluster cluster_of(int ranks) {
    LocalCluster cluster;
    cluster.ranks = ranks;
    cluster.latency = 40e-6;
    cluster.gap = Curve({{0, Seconds(12e-6)}, {1 << 20, Seconds(12e-6 + (1 << 20) / 1e8)}});
    cluster.stream = Curve({{0, Seconds(8e-6)}, {1 << 20, Seconds(8e-6 + (1 << 20) / 1.2e8)}});
    return cluster;
}

}  // namespace

TEST_CASE("every strategy brings every rank what it needs, in any order of events", "[strategy]") {
    for (const Strategy& strategy : strategies()) {
        for (int ranks = 1; ranks <= 17; ++ranks) {
            if (!strategy.is_for(ranks)) continue;
            for (const Bytes bytes : {Bytes{0}, Bytes{5}, Bytes{1000}}) {
                if (bytes > 0 && strategy.collective == LocalCollective::barrier) continue;
                const auto schedules = schedules_of(strategy, ranks, bytes, 100);
                const Topology topology = Topology::from_clusters(ranks, {everybody(ranks)});
                for (std::uint64_t seed = 1; seed <= 4; ++seed) {
                    INFO(name_of(strategy.collective) << " " << strategy.name << ", " << ranks << " ranks, "
                                                      << bytes << " bytes, seed " << seed);
                    Contributions memory(strategy, schedules);
                    SimulationOptions options;
                    options.seed = seed;
                    options.eager = seed % 2 == 0;
                    const auto run = Simulator<Contributions>(schedules, topology, memory, options).run();
                    REQUIRE(run.failure == "");
                    for (std::uint32_t block = 0; block < schedules[0].blocks.count(); ++block) {
                        for (Rank rank = 0; rank < ranks; ++rank) {
                            if (!needs(strategy.collective, rank, block)) continue;
                            auto value = memory.cell(rank, {kResult, block});
                            // Who is not alone in a barrier may be told of more than once.
                            if (strategy.collective == LocalCollective::barrier)
                                value.erase(std::unique(value.begin(), value.end()), value.end());
                            REQUIRE(value == expected(strategy.collective, ranks, block));
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("strategies take what the simulator says", "[strategy]") {
    for (const Strategy& strategy : strategies()) {
        const bool is_barrier = strategy.collective == LocalCollective::barrier;
        const bool is_cut = strategy.cut == Strategy::Cut::segments;
        for (const int ranks : {1, 2, 3, 7, 8, 16, 31, 64}) {
            if (!strategy.is_for(ranks)) continue;
            for (const Bytes bytes : {Bytes{0}, Bytes{6400}, Bytes{1} << 20}) {
                if (is_barrier != (bytes == 0)) continue;
                for (const Bytes segment : {Bytes{0}, Bytes{8192}}) {
                    if (segment > 0 && !is_cut) continue;
                    INFO(name_of(strategy.collective) << " " << strategy.name << "@" << segment << ", "
                                                      << ranks << " ranks, " << bytes << " bytes");
                    LocalCluster cluster = cluster_of(ranks);
                    cluster.reduction = 1e-10;
                    CHECK(strategy.time(cluster, bytes, segment) ==
                          Approx(simulated(strategy, cluster, bytes, segment)).epsilon(0.03));
                }
            }
        }
    }
}

TEST_CASE("a table of strategies is seed 003's", "[strategy]") {
    using enum LocalCollective;
    LocalCluster cluster = cluster_of(16);
    const double latency = cluster.latency;
    const Bytes bytes = 64 * 1024;
    const Bytes segment = 4096;
    const double k = 16;
    const double whole = cluster.gap_of(bytes);
    const double part = cluster.stream.at(segment).count();
    const auto time = [&](std::string_view name, Bytes cut) {
        for (const Strategy& strategy : strategies()) {
            if (strategy.collective == bcast && strategy.name == name)
                return strategy.time(cluster, bytes, cut);
        }
        return 0.0;
    };
    CHECK(time("flat", 0) == Approx(15 * whole + latency));
    CHECK(time("flat", segment) == Approx(15 * part * k + latency));
    CHECK(time("binomial", 0) == Approx(4 * whole + 4 * latency));
    CHECK(time("binomial", segment) == Approx(4 * part * k + 4 * latency));
    CHECK(time("binary", 0) <= 4 * (2 * whole + latency));
    CHECK(time("chain", 0) == Approx(15 * (whole + latency)));
    CHECK(time("chain", segment) == Approx(15 * (part + latency) + part * (k - 1)));
    cluster.handshake_from = bytes;
    const double handshake = 2 * cluster.gap_of(1) + 3 * latency;
    CHECK(time("flat", 0) == Approx(15 * whole + handshake));
    CHECK(time("binomial", 0) == Approx(4 * whole + 4 * handshake));
    CHECK(time("chain", 0) == Approx(15 * (whole + handshake)));
    CHECK(time("chain", segment) == Approx(15 * (part + latency) + part * (k - 1)));
}

TEST_CASE("combining is counted wherever contributions meet", "[strategy]") {
    using enum LocalCollective;
    const Bytes bytes = 1 << 20;
    LocalCluster cluster = cluster_of(8);
    LocalCluster slow = cluster;
    slow.reduction = 1e-9;
    const double all = slow.reduction * static_cast<double>(bytes);
    for (const Strategy& strategy : strategies()) {
        INFO(name_of(strategy.collective) << " " << strategy.name);
        const double more = strategy.time(slow, bytes, 0) - strategy.time(cluster, bytes, 0);
        const bool has_parts = strategy.cut == Strategy::Cut::parts;
        if (strategy.collective == reduce || strategy.collective == allreduce ||
            strategy.collective == reduce_scatter) {
            // Halves, quarters …; or all of it, at every level of a tree.
            const double expected = has_parts                   ? all * 7 / 8
                                    : strategy.name == "flat"   ? all * 7
                                    : strategy.name == "chain"  ? all * 7
                                    : strategy.name == "binary" ? all * 4
                                                                : all * 3;
            CHECK(more == Approx(expected));
        } else {
            CHECK(more == 0);
        }
    }
}

TEST_CASE("two trees keep every port as busy as one message", "[strategy]") {
    for (int ranks = 1; ranks <= 40; ++ranks) {
        const TwoTrees trees = two_trees(ranks);
        for (int member = 0; member < ranks; ++member) {
            const auto m = static_cast<std::size_t>(member);
            INFO("member " << member << " of " << ranks);
            CHECK(trees.first.contains(member));
            CHECK(trees.second.contains(member));
            const std::size_t first = trees.first.children[m].size();
            const std::size_t second = trees.second.children[m].size();
            if (member > 0) CHECK((first == 0 || second == 0));
            CHECK(first + second <= 2);
        }
    }
}

TEST_CASE("a long message is cut where that helps", "[strategy]") {
    const LocalCluster cluster = cluster_of(16);
    for (const Strategy& strategy : strategies()) {
        const Bytes best = best_segment(strategy, cluster, 1 << 20);
        if (strategy.cut != Strategy::Cut::segments) {
            CHECK(best == 0);
            continue;
        }
        for (Bytes other = 256; other < 1 << 20; other *= 2)
            CHECK(strategy.time(cluster, 1 << 20, best) <= strategy.time(cluster, 1 << 20, other));
        CHECK(best_segment(strategy, cluster, 1) == 0);
    }
}
