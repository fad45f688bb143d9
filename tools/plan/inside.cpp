// SPDX-License-Identifier: BSD-3-Clause
#include "inside.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/units.hpp"
#include "collectives/planner.hpp"
#include "collectives/simulated_network.hpp"

namespace laple::plan {
namespace {

struct Row {
    const Strategy* strategy;
    Bytes segment;
    double predicted;
    std::optional<double> simulated;  // nothing where it would take too long
};

LocalCluster cluster_of(const Situation& situation, int cluster) {
    const int level = situation.topology.level_count() - 1;
    const int count = situation.topology.group_count(level);
    if (cluster < 0 || cluster >= count) {
        throw Error(fmt::format("there is no cluster {}", cluster),
                    fmt::format("clusters are numbered from 0 to {}", count - 1));
    }
    const NetworkCosts::Link& link = situation.costs.link(cluster, cluster);
    LocalCluster local;
    local.ranks = static_cast<int>(situation.topology.members(level, cluster).size());
    local.latency = link.latency;
    local.gap = link.gap;
    local.stream = link.stream;
    local.reduction = situation.costs.cluster(cluster).reduction;
    return local;
}

/// Nothing where there are too many messages to wait for.
std::optional<double> simulated_time(const Strategy& strategy, const LocalCluster& cluster, Bytes bytes,
                                     Bytes segment) {
    constexpr std::size_t kMostSteps = 1'000'000;
    constexpr int kMostRanks = 1024;
    if (cluster.ranks > kMostRanks) return std::nullopt;
    std::vector<Schedule> schedules;
    std::size_t steps = 0;
    for (int self = 0; self < cluster.ranks; ++self) {
        schedules.push_back(schedule_of(strategy, cluster.ranks, self, bytes, segment));
        steps += schedules.back().steps.size();
        if (steps > kMostSteps) return std::nullopt;
    }
    std::vector<Rank> members(static_cast<std::size_t>(cluster.ranks));
    std::iota(members.begin(), members.end(), 0);
    const Topology topology = Topology::from_clusters(cluster.ranks, {members});
    const bool is_stream = strategy.cut == Strategy::Cut::segments && schedules.front().blocks.count() > 1;
    SimulationOptions options;
    options.network = simulated_network(cluster, is_stream);
    NoMemory memory;
    return Simulator<NoMemory>(schedules, topology, memory, options).run().makespan.count();
}

std::vector<Row> rows_of(const LocalCluster& cluster, LocalCollective collective, Bytes bytes) {
    std::vector<Row> rows;
    for (const Strategy& strategy : strategies()) {
        if (strategy.collective != collective || !strategy.is_for(cluster.ranks)) continue;
        const Bytes segment = best_segment(strategy, cluster, bytes);
        rows.push_back({&strategy, segment, strategy.time(cluster, bytes, segment),
                        simulated_time(strategy, cluster, bytes, segment)});
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.predicted < b.predicted; });
    return rows;
}

std::string text_of(const std::vector<Row>& rows, const LocalCluster& cluster, Bytes bytes, int number) {
    std::string text =
        fmt::format("Cluster {}: {} ranks, L = {}, g({}) = {}\n\n{:<18} {:>8} {:>10} {:>10}   {}\n", number,
                    cluster.ranks, format_seconds(Seconds(cluster.latency)), format_bytes(bytes),
                    format_seconds(cluster.gap.at(bytes)), "", "segment", "predicted", "simulated",
                    "about (k segments of s bytes)");
    for (const Row& row : rows) {
        text += fmt::format(
            "{:<18} {:>8} {:>10} {:>10}   {}\n", row.strategy->name,
            row.segment > 0 ? format_bytes(row.segment) : "-", format_seconds(Seconds(row.predicted)),
            row.simulated ? format_seconds(Seconds(*row.simulated)) : "-", row.strategy->formula);
    }
    return text;
}

std::string json_of(const std::vector<Row>& rows, LocalCollective collective, const LocalCluster& cluster,
                    Bytes bytes, int number) {
    Json document{{"format", "laple-inside-1"},
                  {"collective", name_of(collective)},
                  {"bytes", bytes},
                  {"cluster", number},
                  {"ranks", cluster.ranks},
                  {"latency", cluster.latency}};
    document["strategies"] = Json::array();
    for (const Row& row : rows) {
        Json entry{{"name", row.strategy->name},
                   {"segment", row.segment},
                   {"predicted", row.predicted},
                   {"formula", row.strategy->formula}};
        if (row.simulated) entry["simulated"] = *row.simulated;
        document["strategies"].push_back(std::move(entry));
    }
    return document.dump(2) + "\n";
}

}  // namespace

LocalCollective local_collective(const std::string& name) {
    if (const auto collective = local_collective_named(name)) return *collective;
    throw Error(fmt::format("\"{}\" is no collective", name),
                "use bcast, reduce, allreduce, barrier, scatter, gather, allgather or reduce_scatter");
}

std::string inside(const Situation& situation, LocalCollective collective, Bytes bytes, int cluster,
                   bool json) {
    if (bytes > kMostPlannedBytes)
        throw Error(fmt::format("{} bytes are more than a message may have", bytes), "use less than 2 GiB");
    const LocalCluster local = cluster_of(situation, cluster);
    if (collective == LocalCollective::barrier) bytes = 0;
    const auto rows = rows_of(local, collective, bytes);
    return json ? json_of(rows, collective, local, bytes, cluster) : text_of(rows, local, bytes, cluster);
}

}  // namespace laple::plan
