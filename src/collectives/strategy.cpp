// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/strategy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "collectives/strategy_steps.hpp"
#include "collectives/tree_time.hpp"

namespace laple {
namespace {

using enum LocalCollective;
using Cut = Strategy::Cut;

constexpr std::array<std::pair<LocalCollective, std::string_view>, 8> kNames{{
    {bcast, "bcast"},
    {reduce, "reduce"},
    {allreduce, "allreduce"},
    {barrier, "barrier"},
    {scatter, "scatter"},
    {gather, "gather"},
    {allgather, "allgather"},
    {reduce_scatter, "reduce_scatter"},
}};

constexpr Shape kFlat{Shape::Kind::flat};
constexpr Shape kBinomial{Shape::Kind::binomial};
constexpr Shape kBinary{Shape::Kind::kary, 2};
constexpr Shape kChain{Shape::Kind::chain};

Bytes part_of(const LocalCluster& cluster, Bytes bytes) {
    const auto ranks = static_cast<Bytes>(cluster.ranks);
    return (bytes + ranks - 1) / ranks;
}

/// A message alone, until it is there: g(m) + L.
double trip(const LocalCluster& cluster, Bytes bytes) {
    return cluster.gap_of(bytes) + cluster.latency_of(bytes);
}

// --- Trees

/// What a message costs that is cut into segments.
struct Segments {
    std::uint64_t count;
    Bytes bytes;
    double gap;
};
Segments segments_of(const LocalCluster& cluster, Bytes bytes, Bytes segment) {
    const Blocks blocks = Blocks::cut(bytes, 1, segment);
    const std::uint64_t count = blocks.count();
    const Bytes each = blocks.bytes_in(0);
    return {count, each, (count > 1 ? cluster.stream : cluster.gap).at(each).count()};
}

EdgeTimes edges_of(const LocalCluster& cluster, double gap, double latency) {
    EdgeTimes edges(std::vector<int>(static_cast<std::size_t>(cluster.ranks), 0), 1);
    edges.set(0, 0, gap, latency);
    return edges;
}

template <Shape shape>
double tree_bcast(const LocalCluster& cluster, Bytes bytes, Bytes segment) {
    const Segments segments = segments_of(cluster, bytes, segment);
    return broadcast_time(local_tree(shape, cluster.ranks), segments.count,
                          edges_of(cluster, segments.gap, cluster.latency_of(segments.bytes)));
}

/// r(m) = g(m) + γ m: a little more than it takes where a rank combines one message while it gets the next.
template <Shape shape>
double tree_reduce(const LocalCluster& cluster, Bytes bytes, Bytes segment) {
    const Segments segments = segments_of(cluster, bytes, segment);
    const double gap = segments.gap + cluster.reduction * static_cast<double>(segments.bytes);
    return reduction_time(local_tree(shape, cluster.ranks), segments.count,
                          edges_of(cluster, gap, cluster.latency_of(segments.bytes)));
}

/// Each tree has every second segment, and its members pass on two for each that they get.
double two_tree_bcast(const LocalCluster& cluster, Bytes bytes, Bytes segment) {
    if (cluster.ranks == 1) return 0;
    const Segments segments = segments_of(cluster, bytes, segment);
    const EdgeTimes edges = edges_of(cluster, segments.gap, cluster.latency_of(segments.bytes));
    const TwoTrees trees = two_trees(cluster.ranks);
    const auto last_of = [&](const Tree& tree, std::uint64_t count) {
        const double more = static_cast<double>(count - 1);
        return broadcast_time(tree, 1, edges) + more * 2 * segments.gap;
    };
    const double even = last_of(trees.first, (segments.count + 1) / 2);
    if (segments.count == 1) return even;
    return std::max(even, segments.gap + last_of(trees.second, segments.count / 2));
}

// --- Parts for each rank

/// The parts of all below a rank in one message.
template <Shape shape>
double tree_of_parts(const LocalCluster& cluster, Bytes bytes, Bytes) {
    const ShapeLinks links = links_of(shape, cluster.ranks);
    const auto part = part_of(cluster, bytes);
    std::vector<Bytes> below(links.parent.size(), part);
    for (std::size_t member = below.size(); member-- > 1;)
        below[static_cast<std::size_t>(links.parent[member])] += below[member];
    std::vector<double> has(below.size(), 0);
    for (std::size_t member = 0; member < has.size(); ++member) {
        double sent = has[member];
        for (const int child : links.children[member]) {
            const auto c = static_cast<std::size_t>(child);
            sent += cluster.gap_of(below[c]);
            has[c] = sent + cluster.latency_of(below[c]);
        }
    }
    return *std::max_element(has.begin(), has.end());
}

double ring_of(const LocalCluster& cluster, Bytes bytes, double combining) {
    const Bytes part = part_of(cluster, bytes);
    return (cluster.ranks - 1) * (trip(cluster, part) + combining * static_cast<double>(part));
}

/// Messages of 1, 2, 4 … parts.
double doubling_of(const LocalCluster& cluster, Bytes bytes, double combining) {
    const Bytes part = part_of(cluster, bytes);
    double time = 0;
    for (int parts = 1; parts < cluster.ranks; parts *= 2) {
        const Bytes message = part * static_cast<Bytes>(parts);
        time += trip(cluster, message) + combining * static_cast<double>(message);
    }
    return time;
}

double ring_allgather(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return ring_of(cluster, bytes, 0);
}
double doubling_allgather(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return doubling_of(cluster, bytes, 0);
}
double ring_reduce_scatter(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return ring_of(cluster, bytes, cluster.reduction);
}
double halving_reduce_scatter(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return doubling_of(cluster, bytes, cluster.reduction);
}

double scatter_ring_bcast(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return tree_of_parts<kBinomial>(cluster, bytes, 0) + ring_of(cluster, bytes, 0);
}
double scatter_doubling_bcast(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return tree_of_parts<kBinomial>(cluster, bytes, 0) + doubling_of(cluster, bytes, 0);
}
double halving_gather_reduce(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return doubling_of(cluster, bytes, cluster.reduction) + tree_of_parts<kBinomial>(cluster, bytes, 0);
}
double halving_doubling_allreduce(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return doubling_of(cluster, bytes, cluster.reduction) + doubling_of(cluster, bytes, 0);
}
double ring_allreduce(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return ring_of(cluster, bytes, cluster.reduction) + ring_of(cluster, bytes, 0);
}

// --- Rounds of the whole message

double rounds(const LocalCluster& cluster) {
    double rounds = 0;
    for (int reached = 1; reached < cluster.ranks; reached *= 2) ++rounds;
    return rounds;
}
double doubling_allreduce(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return rounds(cluster) * (trip(cluster, bytes) + cluster.reduction * static_cast<double>(bytes));
}
double binomial_allreduce(const LocalCluster& cluster, Bytes bytes, Bytes) {
    return tree_reduce<kBinomial>(cluster, bytes, 0) + tree_bcast<kBinomial>(cluster, bytes, 0);
}
double dissemination(const LocalCluster& cluster, Bytes, Bytes) {
    return rounds(cluster) * trip(cluster, 0);
}
double binomial_barrier(const LocalCluster& cluster, Bytes, Bytes) {
    return binomial_allreduce(cluster, 0, 0);
}

// --- Steps

template <Shape shape>
void tree_bcast_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    add_tree_bcast(local_tree(shape, static_cast<int>(ranks.ranks.size())), ranks, blocks, builder);
}
template <Shape shape>
void tree_reduce_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    add_tree_reduce(local_tree(shape, static_cast<int>(ranks.ranks.size())), ranks, blocks, builder);
}
template <Shape shape>
void scatter_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    add_scatter(shape, ranks, blocks, builder);
}
template <Shape shape>
void gather_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    add_gather(shape, ranks, blocks, builder);
}
void scatter_ring_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    add_scatter(kBinomial, ranks, blocks, builder);
    add_ring_allgather(ranks, blocks, builder);
}
void scatter_doubling_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    add_scatter(kBinomial, ranks, blocks, builder);
    add_doubling_allgather(ranks, blocks, builder);
}
void halving_gather_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    add_halving_reduce_scatter(ranks, blocks, builder);
    add_gather(kBinomial, ranks, blocks, builder);
}
void halving_doubling_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    add_halving_reduce_scatter(ranks, blocks, builder);
    add_doubling_allgather(ranks, blocks, builder);
}
void ring_allreduce_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    add_ring_reduce_scatter(ranks, blocks, builder);
    add_ring_allgather(ranks, blocks, builder);
}
void reduce_and_bcast_steps(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    tree_reduce_steps<kBinomial>(ranks, blocks, builder);
    tree_bcast_steps<kBinomial>(ranks, blocks, builder);
}

constexpr auto kAnyNumber = false;  // of ranks
constexpr auto kPowerOfTwo = true;

constexpr std::array kStrategies{
    Strategy{bcast, "flat", "(P-1) g(s) k + L", Cut::segments, kAnyNumber, tree_bcast<kFlat>,
             tree_bcast_steps<kFlat>},
    Strategy{bcast, "binomial", "log2 P g(s) k + log2 P L", Cut::segments, kAnyNumber, tree_bcast<kBinomial>,
             tree_bcast_steps<kBinomial>},
    Strategy{bcast, "binary", "log2 P (2 g(s) + L) + 2 g(s) (k-1)", Cut::segments, kAnyNumber,
             tree_bcast<kBinary>, tree_bcast_steps<kBinary>},
    Strategy{bcast, "chain", "(P-1) (g(s) + L) + g(s) (k-1)", Cut::segments, kAnyNumber, tree_bcast<kChain>,
             tree_bcast_steps<kChain>},
    Strategy{bcast, "two-tree", "log2 P (2 g(s) + L) + g(s) k", Cut::segments, kAnyNumber, two_tree_bcast,
             add_two_tree_bcast},
    Strategy{bcast, "scatter-ring", "sum g(m/2^j) + log2 P L + (P-1) (g(m/P) + L)", Cut::parts, kAnyNumber,
             scatter_ring_bcast, scatter_ring_steps},
    Strategy{bcast, "scatter-doubling", "2 sum g(m/2^j) + 2 log2 P L", Cut::parts, kPowerOfTwo,
             scatter_doubling_bcast, scatter_doubling_steps},
    Strategy{reduce, "flat", "(P-1) r(s) k + L", Cut::segments, kAnyNumber, tree_reduce<kFlat>,
             tree_reduce_steps<kFlat>},
    Strategy{reduce, "binomial", "log2 P r(s) k + log2 P L", Cut::segments, kAnyNumber,
             tree_reduce<kBinomial>, tree_reduce_steps<kBinomial>},
    Strategy{reduce, "binary", "log2 P (2 r(s) + L) + 2 r(s) (k-1)", Cut::segments, kAnyNumber,
             tree_reduce<kBinary>, tree_reduce_steps<kBinary>},
    Strategy{reduce, "chain", "(P-1) (r(s) + L) + r(s) (k-1)", Cut::segments, kAnyNumber, tree_reduce<kChain>,
             tree_reduce_steps<kChain>},
    Strategy{reduce, "halving-gather", "sum r(m/2^j) + sum g(m/2^j) + 2 log2 P L", Cut::parts, kPowerOfTwo,
             halving_gather_reduce, halving_gather_steps},
    Strategy{allreduce, "doubling", "log2 P (r(m) + L)", Cut::whole, kPowerOfTwo, doubling_allreduce,
             add_doubling_allreduce},
    Strategy{allreduce, "halving-doubling", "sum r(m/2^j) + sum g(m/2^j) + 2 log2 P L", Cut::parts,
             kPowerOfTwo, halving_doubling_allreduce, halving_doubling_steps},
    Strategy{allreduce, "ring", "(P-1) (r(m/P) + g(m/P) + 2 L)", Cut::parts, kAnyNumber, ring_allreduce,
             ring_allreduce_steps},
    Strategy{allreduce, "binomial", "log2 P (r(m) + g(m) + 2 L)", Cut::whole, kAnyNumber, binomial_allreduce,
             reduce_and_bcast_steps},
    Strategy{barrier, "dissemination", "log2 P (g(0) + L)", Cut::whole, kAnyNumber, dissemination,
             add_dissemination},
    Strategy{barrier, "binomial", "2 log2 P (g(0) + L)", Cut::whole, kAnyNumber, binomial_barrier,
             reduce_and_bcast_steps},
    Strategy{scatter, "flat", "(P-1) g(m/P) + L", Cut::parts, kAnyNumber, tree_of_parts<kFlat>,
             scatter_steps<kFlat>},
    Strategy{scatter, "binomial", "sum g(m/2^j) + log2 P L", Cut::parts, kAnyNumber, tree_of_parts<kBinomial>,
             scatter_steps<kBinomial>},
    Strategy{scatter, "chain", "sum g(j m/P) + (P-1) L", Cut::parts, kAnyNumber, tree_of_parts<kChain>,
             scatter_steps<kChain>},
    Strategy{gather, "flat", "(P-1) g(m/P) + L", Cut::parts, kAnyNumber, tree_of_parts<kFlat>,
             gather_steps<kFlat>},
    Strategy{gather, "binomial", "sum g(m/2^j) + log2 P L", Cut::parts, kAnyNumber, tree_of_parts<kBinomial>,
             gather_steps<kBinomial>},
    Strategy{gather, "chain", "sum g(j m/P) + (P-1) L", Cut::parts, kAnyNumber, tree_of_parts<kChain>,
             gather_steps<kChain>},
    Strategy{allgather, "ring", "(P-1) (g(m/P) + L)", Cut::parts, kAnyNumber, ring_allgather,
             add_ring_allgather},
    Strategy{allgather, "doubling", "sum g(m/2^j) + log2 P L", Cut::parts, kPowerOfTwo, doubling_allgather,
             add_doubling_allgather},
    Strategy{reduce_scatter, "ring", "(P-1) (r(m/P) + L)", Cut::parts, kAnyNumber, ring_reduce_scatter,
             add_ring_reduce_scatter},
    Strategy{reduce_scatter, "halving", "sum r(m/2^j) + log2 P L", Cut::parts, kPowerOfTwo,
             halving_reduce_scatter, add_halving_reduce_scatter},
};

}  // namespace

std::string_view name_of(LocalCollective collective) {
    return kNames[static_cast<std::size_t>(collective)].second;
}

std::optional<LocalCollective> local_collective_named(std::string_view name) {
    for (const auto& [collective, known] : kNames) {
        if (known == name) return collective;
    }
    return std::nullopt;
}

std::span<const Strategy> strategies() {
    return kStrategies;
}

Blocks Strategy::blocks(int ranks, Bytes bytes, Bytes segment) const {
    const auto parts = static_cast<Bytes>(ranks);
    return Blocks::cut(bytes, 1,
                       cut == Cut::parts ? std::max<Bytes>((bytes + parts - 1) / parts, 1) : segment);
}

Schedule schedule_of(const Strategy& strategy, int ranks, int self, Bytes bytes, Bytes segment) {
    constexpr std::uint32_t kWindow = 4;
    std::vector<Rank> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    const Blocks blocks = strategy.blocks(ranks, bytes, segment);
    ScheduleBuilder builder(blocks, kWindow);
    strategy.add_steps({all, self}, blocks, builder);
    return std::move(builder).finish();
}

Bytes best_segment(const Strategy& strategy, const LocalCluster& cluster, Bytes bytes) {
    constexpr Bytes kLeast = 256;
    Bytes best = 0;
    if (strategy.cut != Cut::segments) return best;
    for (Bytes segment = kLeast; segment < bytes; segment *= 2) {
        if (strategy.time(cluster, bytes, segment) < strategy.time(cluster, bytes, best)) best = segment;
    }
    return best;
}

}  // namespace laple
