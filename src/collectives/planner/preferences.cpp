// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/preferences.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "collectives/algorithms/native.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/trees/hierarchy.hpp"

namespace laple {
namespace {

// Which algorithm is good for which size, from measurements on four sites 10 ms apart with 100 Mbit/s hosts
// (wan4x4 of laple-grid). A message is small while its transfer time is small against the latency between
// clusters; it is large when a pipeline's extra latencies are small against the transfer time.
constexpr Bytes kSmall = 8 * 1024;
constexpr Bytes kSmallToGather = 1024;
constexpr Bytes kMostExchanged = 1024 * 1024;  // by all hosts, without a pace
constexpr int kMostExchanging = 64;            // hosts: that have few segments in all
constexpr Bytes kLargeRooted = 256 * 1024;
constexpr Bytes kLargeAllreduce = 512 * 1024;

// The same for large clusters, in which a chain takes long to fill: from simulations of 88 hosts in clusters
// of up to 31 with 120 MB/s a host (bench/smpi, grid5000-88).
constexpr std::size_t kLargeCluster = 8;  // more hosts than this
constexpr Bytes kTiny = 2 * 1024;
constexpr Bytes kMiddle = 64 * 1024;
constexpr Bytes kHuge = 8 * 1024 * 1024;

// Segments are below every rendezvous threshold seen: above it, each pays a round trip before its data may
// go. Shorter ones where few segments have many hosts to pass.

/// One copy on each link between clusters, all sent at once: one latency.
constexpr auto kShortWay = "flat/binomial";
/// The same with a pipeline inside.
constexpr auto kPipelineInside = "flat/chain@8K";
/// The same with the copies sent by different hosts: one latency, two copies a NIC at most.
constexpr auto kMultiLeaderWay = "multi-leader-flat/chain@8K";
/// One pipeline through all hosts: one copy a NIC, a latency for each cluster.
constexpr auto kPipeline = "multi-leader-chain/chain@8K";
/// In large clusters: pipelines that branch, and so reach all hosts after few segments.
constexpr auto kBranchingWay = "flat/binary@4K";
constexpr auto kMultiLeaderBranchingWay = "multi-leader-flat/binary@8K";
constexpr auto kExchange = "direct-exchange/binomial";
constexpr auto kExchangeChain = "direct-exchange/chain@8K";
/// Of what is gathered: one latency between clusters; or no port with more than its part to carry. A ring has
/// a latency between clusters in each of its steps.
constexpr auto kLeaderExchange = "leader-exchange/binomial";
constexpr auto kMultiLeaderExchange = "multi-leader-exchange@8K";
constexpr auto kRing = "ring";
/// Of blocks: one message between two clusters; or none is passed on.
constexpr auto kTogether = "cluster-aggregation";
constexpr auto kStraight = "direct";
/// Of blocks that are combined: one message from a cluster to each host elsewhere.
constexpr auto kCombining = "cluster-combining";
constexpr auto kCombiningInSegments = "cluster-combining@8K";
/// Of prefixes: one latency between clusters, or no port with more than the message to carry.
constexpr auto kPrefixExchange = "prefix-exchange";
constexpr auto kPrefixChain = "prefix-chain@8K";
constexpr auto kPrefixGather = "prefix-gather";

/// Beyond some lanes the uplinks are full, and every lane costs each of its leaders a message to all others.
constexpr std::size_t kMaxLanes = 8;

std::string exchange_in_lanes(const Machine& machine) {
    std::size_t largest = 1;
    for (const auto& group : outermost_hosts(machine)) largest = std::max(largest, group.size());
    const std::size_t lanes = std::min(largest, kMaxLanes);
    return fmt::format("direct-exchange/flat@8K{}", lanes > 1 ? fmt::format("x{}", lanes) : "");
}

bool has_large_clusters(const Machine& machine) {
    for (int cluster = 0; cluster < machine.cluster_count(); ++cluster) {
        if (machine.hosts_in(cluster).size() > kLargeCluster) return true;
    }
    return false;
}

std::vector<std::string> preferences_in_large_clusters(Bytes bytes, bool is_rooted) {
    if (is_rooted) {
        if (bytes <= kTiny) return {kShortWay};
        if (bytes <= kMiddle) return {kBranchingWay, kShortWay};
        if (bytes <= kHuge) return {kMultiLeaderBranchingWay, kBranchingWay, kShortWay};
        return {kPipeline, kPipelineInside, kShortWay};
    }
    if (bytes <= kTiny) return {kExchange, kShortWay};
    if (bytes <= kMiddle) return {"direct-exchange/binary@4K", kShortWay};
    if (bytes <= kHuge) return {kMultiLeaderBranchingWay, "direct-exchange/binary@8K", kShortWay};
    return {kPipeline, kExchangeChain, kShortWay};
}

}  // namespace

std::vector<std::string> preferences(const Request& request, const Machine& machine) {
    const Bytes bytes = request.bytes();
    if (is_gathered(request.collective)) {
        if (bytes <= kSmall) return {kLeaderExchange};
        if (bytes <= kMostExchanged && machine.host_count() <= kMostExchanging)
            return {kMultiLeaderExchange, kRing};
        return {kRing};
    }
    if (is_prefix(request.collective)) {
        // From rank to rank a chain would cross to other clusters again and again, where those are dealt
        // round.
        if (!machine.has_consecutive_ranks())
            return {bytes <= kSmallToGather ? kPrefixGather : std::string(native()->name()), kPrefixChain};
        return {bytes <= kSmall ? kPrefixExchange : kPrefixChain};
    }
    if (is_combined_in_parts(request.collective))
        return {bytes <= kSmall ? kCombining : kCombiningInSegments};
    if (is_personalized(request.collective))
        return bytes <= kTiny ? std::vector<std::string>{kTogether, kStraight}
                              : std::vector<std::string>{kStraight};
    const bool is_rooted = row_of(request.collective).is_rooted;
    if (has_large_clusters(machine)) return preferences_in_large_clusters(bytes, is_rooted);
    if (is_rooted) {
        if (bytes <= kSmall) return {kShortWay};
        if (bytes <= kLargeRooted) return {kMultiLeaderWay, kPipelineInside, kShortWay};
        return {kPipeline, kPipelineInside, kShortWay};
    }
    if (bytes <= kSmall) return {kExchange, kShortWay};
    if (bytes <= kLargeAllreduce) return {exchange_in_lanes(machine), kExchangeChain, kShortWay};
    return {kPipeline, kExchangeChain, kShortWay};
}

}  // namespace laple
