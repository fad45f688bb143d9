// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "collectives/tree_price.hpp"

namespace laple {

/// The rules that order the messages between clusters by what the network costs, as an algorithm's name may
/// hold them: those of heuristics.hpp but "flat", which is a shape; and
///
///     nearest   each cluster passes the message on to the one nearest to it that waits: a pipeline
///     best      the best that is known: of all of these, of exact_order or improved, and, for pipelines, of
///               what they become when clusters are moved to other senders one by one
std::vector<std::string_view> order_rules();
bool is_order_rule(std::string_view name);

/// For one message of a broadcast (or, on reversed costs, a reduction) in `segments` segments: what `rule`
/// makes of it. `times` are those of one segment, `whole` those of the undivided message; both may be the
/// same. `rule` must be one of order_rules().
SendOrder order_by(std::string_view rule, const ClusterTree& around, int root, std::uint64_t segments,
                   const SegmentTimes& times, TreePricer& pricer);

/// What heuristics are given for messages that cost `times`.
ClusterTimes cluster_times(const ClusterTree& around, std::uint64_t segments, const SegmentTimes& times,
                           TreePricer& pricer);

/// "nearest".
SendOrder nearest_chain(const SegmentTimes& times, int root);

/// `tree`, made better by moving one cluster at a time to another sender, as long as that helps, but for a
/// bounded effort. Never worse than `tree`; its price comes back in `time`.
SendOrder moved(ClusterTree tree, int root, std::uint64_t segments, const SegmentTimes& times,
                TreePricer& pricer, TreeTime& time);

}  // namespace laple
