// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/plan.hpp"

#include <algorithm>

#include "collectives/expand_meeting.hpp"
#include "collectives/expand_tree.hpp"
#include "collectives/hierarchy.hpp"
#include "collectives/relayed.hpp"

namespace laple {
namespace {

/// Bytes that may be under way to one peer in one channel. More than the bandwidth-delay product of the links
/// LaPle is made for (1 Gbit/s × 20 ms = 2.5 MB would be the extreme; 100 Mbit/s × 40 ms = 0.5 MB the usual),
/// so that a pipeline never waits for an acknowledgement, and a bound on requests and on temporary memory.
constexpr Bytes kWindowBytes = 512 * 1024;
/// Inside a cluster, 1 Gbit/s × 100 us: what is sent into a full pipe delays what is there already, on its
/// way through every rank of the cluster.
constexpr Bytes kNearWindowBytes = 16 * 1024;
constexpr std::uint64_t kMinWindow = 4;
constexpr std::uint64_t kMinNearWindow = 2;
constexpr std::uint64_t kMaxWindow = 256;

bool has_spread(const Algorithm& algorithm) {
    return std::any_of(algorithm.between.begin(), algorithm.between.end(),
                       [](const LevelShape& level) { return level.spread; });
}

std::uint32_t window_of(const Blocks& blocks, Bytes window_bytes, std::uint64_t min_window) {
    const Bytes block_bytes = std::max<Bytes>(blocks.bytes_in(0), 1);
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(window_bytes / block_bytes, min_window, kMaxWindow));
}

}  // namespace

Rank tree_root(const Request& request) {
    return request.collective == Collective::reduce && !request.commutative ? 0 : request.root;
}

LaneTrees lane_trees_of(const Plan& plan, const Topology& topology) {
    const Rank root = tree_root(plan.request);
    const int innermost = topology.level_count() - 1;
    const int clusters = topology.group_count(innermost);
    const int root_cluster = topology.group_of(innermost, root);
    std::vector<SendOrder> orders;
    for (const int relay : plan.relays) orders.push_back(relayed_order(root_cluster, relay, clusters));
    if (orders.empty()) {
        orders.push_back(plan.order.empty()
                             ? order_of_shape(plan.algorithm.between.front().shape, clusters, root_cluster)
                             : plan.order);
    }
    return {topology, orders, plan.algorithm.lanes, plan.algorithm.within, root};
}

Tree tree_of(const Plan& plan, const Topology& topology) {
    const Rank root = tree_root(plan.request);
    if (plan.algorithm.lanes > 1) return lane_trees_of(plan, topology).tree(0);
    if (plan.order.empty()) return hierarchical_tree(topology, plan.algorithm, root);
    return ordered_tree(topology, plan.order, has_spread(plan.algorithm), plan.algorithm.within, root);
}

bool can_do(const Algorithm& algorithm, const Request& request, const Topology& topology) {
    if (algorithm.is_native) return true;
    const bool is_regional = algorithm.meeting == Meeting::regional;
    if ((algorithm.native_within || is_regional) && topology.is_flat()) return false;
    const bool is_striped = algorithm.meeting == Meeting::tree && algorithm.lanes > 1;
    if (is_striped && (topology.is_flat() || (topology.level_count() > 1 && algorithm.order.empty())))
        return false;
    if (algorithm.order == kRelayedRule && topology.level_count() > 1) return false;
    if (!is_reduction(request.collective) || request.commutative) return true;
    if (!algorithm.order.empty()) return false;
    if (!has_consecutive_groups(topology)) return false;
    // Lanes have other coordinators than the smallest rank, and with them trees that wrap around.
    if (algorithm.lanes > 1 || is_regional) return false;
    if (algorithm.native_within || algorithm.meeting != Meeting::tree) return !has_spread(algorithm);
    return keeps_rank_order(hierarchical_tree(topology, algorithm, tree_root(request)));
}

Schedule expand(const Plan& plan, const Topology& topology, Rank rank) {
    const std::uint32_t window = plan.window_bytes > 0
                                     ? window_of(plan.blocks(), plan.window_bytes, kMinNearWindow)
                                     : window_of(plan.blocks(), kWindowBytes, kMinWindow);
    ScheduleBuilder builder(plan.blocks(), window);
    builder.set_near(innermost_group(topology, rank),
                     window_of(plan.blocks(), kNearWindowBytes, kMinNearWindow));
    if (plan.algorithm.meeting == Meeting::tree) {
        expand_tree(plan, topology, rank, builder);
    } else {
        expand_meeting(plan, topology, rank, builder);
    }
    return std::move(builder).finish();
}

}  // namespace laple
