// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "collectives/cost/tree_price.hpp"

namespace laple {

/// The rules that order the messages between clusters by what the network costs, as an algorithm's name may
/// hold them: those of heuristics.hpp but "flat", which is a shape; and
///
///     nearest   each cluster passes the message on to the closest one that still waits: a pipeline
///     slow-last the same, but clusters that take clearly longer to serve come last: a slow link is never
///               idle, and whatever is behind it waits for each of its delays
///     best      the best that is known: of all of these, of exact_order or improved, and, for pipelines, of
///               what they become when clusters are moved to other senders one by one
std::vector<std::string_view> order_rules();
bool is_order_rule(std::string_view name);

inline constexpr std::string_view kBestRule = "best";
inline constexpr std::string_view kSlowLastRule = "slow-last";

/// What heuristics are given for a message in `segments` segments that cost `times` each, with trees of
/// `within` inside the clusters.
ClusterTimes cluster_times(Shape within, std::uint64_t segments, const SegmentTimes& times,
                           TreePricer& pricer);

/// What `rule`, one of order_rules(), makes of a broadcast from the root's cluster in `segments` segments
/// that cost `times` each, or of a reduction, with times of that direction. `around` says what else the tree
/// is like; `clusters` are its cluster_times.
SendOrder order_by(std::string_view rule, const ClusterTree& around, int root, std::uint64_t segments,
                   const ClusterTimes& clusters, const SegmentTimes& times, TreePricer& pricer);

}  // namespace laple
