// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "collectives/send_order.hpp"
#include "collectives/tree_price.hpp"

namespace laple {

/// The rule of trees in lanes in which clusters take turns at passing a lane on to all others, for
/// broadcasts. The message leaves the root's cluster once, each relay sends its lanes to all others, and a
/// segment is everywhere after two latencies between clusters, however many there are:
///
///     lane 0, relayed by 1          lane 1, relayed by 2          lane 2, relayed by 3
///     0 ══ 1 ═┬═ 2                  0 ══ 2 ═┬═ 3                  0 ══ 3 ═┬═ 1
///             └═ 3                          └═ 1                          └═ 2
///
/// A chain has C-1 latencies, a flat tree C-1 copies in the root's uplink. Backwards it would be a reduction,
/// but no root paces that: contributions that are not due yet crowd out those that are (on four emulated
/// sites it took a third longer than a chain).
/// (GridMPI's latency-aware broadcast, a modified van de Geijn, between any number of clusters: the scatter
/// is the way to the relays, the allgather what these send; algorithms.md 3f)
inline constexpr std::string_view kRelayedRule = "relayed";

/// The messages between `clusters` clusters of a lane from `root`'s that `relay` passes on: to the cluster
/// after it first, so that relays begin with different ones.
SendOrder relayed_order(int root, int relay, int clusters);

/// Who relays, in turn, and how long it takes.
struct Relayed {
    std::vector<int> relays;  ///< clusters, not the root's; Plan::relays
    int lanes = 1;
    TreeTime time;
};

/// The best relays, all alike, for a broadcast of `segments` segments that cost `times` each, with `within`
/// inside the clusters of `pricer`: some of those that take the least time to pass a segment on to all
/// others. With C clusters and the share w of the lanes that a relay has, segments are held up by
///
///     w (C-2) copies in the uplink of a relay, one in that of the root's cluster, one on the way into each
///     (n-1) + w (C-2) messages sent by the n NICs of a relay, and n that NICs of every cluster get
///     (n-2) + 1 messages of the n-1 NICs of the root's cluster that are not the root's, one of the root's
///     w of all segments in the flows from a relay to another cluster, which may ramp
///
/// `lanes_for` says how many lanes there are with so many relays, 0 for not so many. No relays where that is
/// so for all numbers, or where it takes longer than `most` seconds. O(C³), and one walk (tree_price.hpp).
Relayed relayed_time(Shape within, const std::function<int(int relays)>& lanes_for, int root,
                     std::uint64_t segments, const SegmentTimes& times, TreePricer& pricer,
                     double most = std::numeric_limits<double>::infinity());

}  // namespace laple
