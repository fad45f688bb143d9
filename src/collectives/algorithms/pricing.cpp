// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/pricing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

#include "collectives/algorithms/native_price.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/trees/host_tree.hpp"

namespace laple {
namespace {

// Above the rendezvous threshold of most transports, segments pay for handshakes; below 4 KiB, for overheads.
constexpr std::array<Bytes, 5> kSegments{4096, 8192, 16384, 32768, 65536};
constexpr std::array<Bytes, 2> kFewSegments{8192, 32768};

/// Among many clusters without groups, looking for near ones would cost more than it brings.
bool may_look_for_groups(const Request& request, const Machine& machine) {
    if (row_of(request.collective).is_rooted || request.bytes() < kLeastToCut) return false;
    return machine.has_groups() || machine.cluster_count() <= kManyClusters;
}

std::vector<int> cluster_sizes(const Machine& machine) {
    std::vector<int> sizes;
    for (int cluster = 0; cluster < machine.cluster_count(); ++cluster)
        sizes.push_back(static_cast<int>(machine.hosts_in(cluster).size()));
    return sizes;
}

/// Of segments, where they pass several clusters: how long a rank that shares its core takes to answer a
/// handshake is known in lone clusters only (MachineCosts::rank_delay). A broadcast of 64 KiB in segments of
/// 32 took 10.7 ms on three sites of four such hosts, and 4.0 in segments of 16.
Bytes longest_without_handshakes(const MachineCosts& costs) {
    auto longest = static_cast<double>(kSegments.back());
    for (int c = 0; costs.count() > 1 && c < costs.count(); ++c) {
        const double limit = costs.cluster(c).eager_limit;
        if (limit >= static_cast<double>(kSegments.front())) longest = std::min(longest, limit);
    }
    return static_cast<Bytes>(longest);
}

/// The fastest first, else in the old order. Places are sorted, and each candidate is moved once.
std::vector<Candidate> sorted(std::vector<Candidate> candidates) {
    std::vector<std::size_t> places(candidates.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        return candidates[a].seconds < candidates[b].seconds;
    });
    std::vector<Candidate> result;
    result.reserve(candidates.size());
    for (const std::size_t place : places) result.push_back(std::move(candidates[place]));
    return result;
}

}  // namespace

Rank tree_root(const Request& request) {
    return row_of(request.collective).runs_to_root && !request.commutative ? 0 : request.root;
}

Bytes fair_lanes(const std::vector<int>& sizes) {
    constexpr int kFair = 64;
    int lanes = 1;
    for (const int size : sizes) {
        lanes = std::lcm(lanes, size);
        if (lanes > kFair) {
            const int largest = *std::max_element(sizes.begin(), sizes.end());
            return static_cast<Bytes>(std::clamp(largest, kFair, AlgorithmName::kMostLanes));
        }
    }
    return static_cast<Bytes>(lanes);
}

HostTime Pricing::on_host(int cluster, Bytes bytes, bool is_stream, HostWays ways) {
    const int ranks = machine_.most_ranks_on_a_host(cluster);
    if (ranks == 1) return {};
    const MachineCosts::Cluster& costs = costs_.cluster(cluster);
    const double stream = costs.memory.stream.at(bytes).count();
    const double alone = costs.memory.gap.at(bytes).count();
    return host_time(pricer_.members(shape_on_host(is_stream), ranks), std::min(stream, alone),
                     costs.memory.latency + std::max(alone - stream, 0.0),
                     ways.up ? costs.reduction * static_cast<double>(bytes) : 0, ways);
}

void add_time_on_hosts(Pricing& pricing, Bytes segment_bytes, TreeTime& time) {
    if (pricing.machine().has_single_ranks()) return;
    const auto segments = static_cast<double>(pricing.segments(segment_bytes));
    const SegmentTimes& up = pricing.times(segment_bytes, SegmentTimes::Direction::reduction);
    const SegmentTimes& down = pricing.times(segment_bytes, SegmentTimes::Direction::broadcast);
    const CollectiveRow& row = row_of(pricing.request().collective);
    HostTime longest;
    for (int cluster = 0; cluster < pricing.clusters(); ++cluster) {
        const double first = (row.combines ? up.on_host(cluster).first : 0) +
                             (row.runs_to_root ? 0 : down.on_host(cluster).first);
        longest.first = std::max(longest.first, first);
        longest.interval = std::max(longest.interval, down.on_host(cluster).interval);
    }
    time.first += longest.first;
    time.last = std::max(time.last + longest.first, time.first + (segments - 1) * longest.interval);
}

Pricing::Pricing(const Request& request, const Machine& machine, const MachineCosts& costs)
    : request_(request),
      machine_(machine),
      costs_(costs),
      root_cluster_(machine.cluster_of_rank(tree_root(request))),
      pricer_(cluster_sizes(machine)),
      near_(may_look_for_groups(request, machine) ? near_groups(machine, costs) : ClusterGroups()) {}

std::vector<Candidate> Pricing::all() {
    constexpr std::size_t kUsual = 128;
    std::vector<Candidate> found;
    found.reserve(kUsual);
    for (const Family& family : families()) {
        if (family.is_for(request_.collective)) family.propose(*this, found);
    }
    for (const Family& family : families()) {
        if (family.refine != nullptr && family.is_for(request_.collective)) family.refine(*this, found);
    }
    add_message_times(found);
    return sorted(std::move(found));
}

/// Longer calls are a matter of rates, unless each host sends to all others; and to count the messages of
/// many ranks takes too long.
void Pricing::add_message_times(std::vector<Candidate>& found) const {
    constexpr Bytes kShort = 8 * 1024;
    constexpr int kFewRanks = 64;
    if (costs_.message_time <= 0 || machine_.rank_count() > kFewRanks) return;
    const bool is_short = request_.bytes() <= kShort;
    for (Candidate& candidate : found) {
        if (candidate.is_measured || candidate.algorithm->is_native_in_clusters()) continue;
        candidate.seconds +=
            costs_.message_time *
            (is_short ? static_cast<double>(messages_of(*candidate.algorithm)) : candidate.messages);
    }
}

/// Of all ranks together.
std::size_t Pricing::messages_of(const Algorithm& algorithm) const {
    const auto ranks = static_cast<std::size_t>(machine_.rank_count());
    if (algorithm.is_native()) return native_messages(request_, machine_);
    if (algorithm.segment_bytes() == 0 && algorithm.tree(request_, machine_))
        return (row_of(request_.collective).is_rooted ? 1 : 2) * (ranks - 1);
    std::size_t messages = 0;
    for (Rank rank = 0; rank < machine_.rank_count(); ++rank) {
        const Schedule schedule = expand(algorithm, {request_, machine_, {}, rank});
        messages += static_cast<std::size_t>(
            std::count_if(schedule.steps.begin(), schedule.steps.end(),
                          [](const Step& step) { return step.kind == StepKind::send; }));
    }
    return messages;
}

int Pricing::largest_cluster() const {
    return *std::max_element(sizes().begin(), sizes().end());
}

std::uint64_t Pricing::segments(Bytes segment_bytes) const {
    return Segments::cut(request_.units, request_.unit_bytes, segment_bytes).count();
}

const SegmentTimes& Pricing::times(Bytes segment_bytes, SegmentTimes::Direction direction) {
    const Segments segments = Segments::cut(request_.units, request_.unit_bytes, segment_bytes);
    const Bytes bytes = segments.segment_bytes();
    const auto use = segments.count() > 1 ? SegmentTimes::Use::stream : SegmentTimes::Use::single;
    for (const auto& known : times_) {
        if (known->bytes == bytes && known->use == use && known->direction == direction) return known->times;
    }
    times_.push_back(std::make_unique<Times>(
        Times{bytes, use, direction, SegmentTimes(costs_, machine_.groups(), bytes, use, direction)}));
    SegmentTimes& times = times_.back()->times;
    const CollectiveRow& row = row_of(request_.collective);
    const HostWays all_ways{row.combines, !row.runs_to_root};
    const bool is_up = direction == SegmentTimes::Direction::reduction;
    for (int cluster = 0; !machine_.has_single_ranks() && cluster < clusters(); ++cluster) {
        HostTime time = on_host(cluster, bytes, segment_bytes > 0, {is_up, !is_up});
        time.interval = on_host(cluster, bytes, segment_bytes > 0, all_ways).interval;
        times.set_on_host(cluster, time);
    }
    return times;
}

const SegmentTimes& Pricing::times_of_tree(Bytes segment_bytes) {
    return times(segment_bytes, row_of(request_.collective).runs_to_root
                                    ? SegmentTimes::Direction::reduction
                                    : SegmentTimes::Direction::broadcast);
}

std::span<const Bytes> Pricing::segment_sizes() const {
    const std::span<const Bytes> sizes =
        clusters() > kManyClusters ? std::span<const Bytes>(kFewSegments) : std::span<const Bytes>(kSegments);
    const Bytes longest = std::min(longest_segment(), request_.bytes() / 2);
    const auto end = std::find_if(sizes.begin(), sizes.end(), [&](Bytes size) { return size > longest; });
    return sizes.first(static_cast<std::size_t>(end - sizes.begin()));
}

Bytes Pricing::longest_segment() const {
    return longest_without_handshakes(costs_);
}

Bytes Pricing::paced_segment(Bytes bytes, Bytes peers) const {
    constexpr Bytes kUsual = 16 * 1024;
    constexpr Bytes kMostMessages = 8192;
    Bytes segment = std::min(kUsual, longest_segment());
    while (segment > bytes / 2 && segment > kSegments.front()) segment /= 2;
    if (segment > bytes / 2) return 0;
    while (segment < bytes && bytes / segment * peers > kMostMessages) segment *= 2;
    return segment < bytes ? segment : 0;
}

Shape Pricing::best_local() {
    if (best_local_) return *best_local_;
    const SegmentTimes& segment = times_of_tree(0);
    const auto longest = [&](Shape shape) {
        double time = 0;
        for (int cluster = 0; cluster < clusters(); ++cluster)
            time = std::max(time, pricer_.local(cluster, shape, 1, segment));
        return time;
    };
    best_local_ = kBinomialShape;
    double shortest = longest(kBinomialShape);
    for (const Shape shape : {kFlatShape, kBinaryShape, kChainShape}) {
        const double time = longest(shape);
        if (time >= shortest) continue;
        shortest = time;
        best_local_ = shape;
    }
    return *best_local_;
}

int Pricing::hops_in(Shape within) {
    return pricer_.members(within, largest_cluster()).deepest;
}

/// Over 100 Mbit/s segments of 64 KiB took 6 to 14 % longer in lanes than those of 16 or 8, 32 KiB 3 %.
bool Pricing::is_coarse(Bytes segment_bytes) {
    constexpr Bytes kNever = 16 * 1024;
    constexpr Bytes kShort = 8 * 1024;
    constexpr double kMuchLonger = 1.5e-3;  // for its bytes, whatever the overhead of a message
    if (segment_bytes <= kNever) return false;
    const SegmentTimes& segment = times(segment_bytes, SegmentTimes::Direction::broadcast);
    const SegmentTimes& shorter = times(kShort, SegmentTimes::Direction::broadcast);
    const bool are_all_alone = largest_cluster() == 1;  // and send to other clusters only
    for (int c = 0; c < clusters(); ++c) {
        if (sizes()[static_cast<std::size_t>(c)] < 2 && !are_all_alone) continue;
        const int to = are_all_alone ? (c + 1) % clusters() : c;
        if (segment.port(c, to) - shorter.port(c, to) > kMuchLonger) return true;
    }
    return false;
}

}  // namespace laple
