// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/units.hpp"
#include "collectives/collective/collective.hpp"
#include "plogp/network.hpp"

namespace laple {

/// A time that no algorithm can beat, and what sets it: "latency", "node", "into A", "out of A", "into
/// A+B", "all uplinks".
struct LowerBound {
    Seconds time{0};
    std::string binds = "nothing";
};

/// The largest of several necessary conditions; m is the message, in bytes, and SP(u, v) the shortest path by
/// latency, which may go through other hosts. (docs/algorithms.md, "Lower bounds"; Patarasuk and Yuan,
/// "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009, for the volume of an
/// allreduce.)
///
///   broadcast  latency   max SP(root, v)
///              node      every v receives m through its NIC, the first byte no sooner than SP(root, v)
///              uplink    so does every site without the root, and the root's site sends m
///              cut       every set S of sites without the root receives m through all that leads into it
///   reduce     the same with every message reversed
///   allreduce  latency   max SP(u, v)
///              node      every v receives m after it could first hear of the farthest u;
///                        and all H hosts send 2m(H-1) together
///              uplink,   every set of sites receives m from outside, after it could first hear of
///              cut       the farthest host there; and all C sites send 2m(C-1) together
///   barrier    latency
///   allgather  latency   max SP(u, v), and then what the ranks of a host contribute through the last NIC
///              node      every v receives m for each rank elsewhere, the first byte no sooner than from the
///                        nearest u
///              uplink,   every set of sites receives m for each rank outside, after it could first hear of
///              cut       the nearest host there
///   gather     latency   max SP(v, root), and then what the ranks of v contribute through the last NIC
///              node      the root receives m for each rank elsewhere, the first byte no sooner than from the
///                        nearest u
///              uplink,   every set of sites with the root receives m for each rank outside, after it could
///              cut       first hear of the nearest host there
///   scatter    the same with every message reversed
///   alltoall   as allgather, with m for each pair of ranks instead
///
/// The time of computing is not counted, nor are overheads. With more than 12 sites only single sites and all
/// but one are tried as sets.
///
/// `bytes` is m: the message, or a block where there are several. `cluster_of_node` has the
/// cluster of every host that takes part: its ranks share its NIC and are one node here. `ranks_on_node` has
/// how many they are; one on each where it is empty. `root` is a node, and counts in rooted collectives only.
/// Costs O(clusters³ + 2^sites · sites²).
LowerBound lower_bound(Collective collective, Bytes bytes, int root, const std::vector<int>& cluster_of_node,
                       const Network& network, const std::vector<int>& ranks_on_node = {});

}  // namespace laple
