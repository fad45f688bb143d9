// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "base/units.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/send_order.hpp"
#include "collectives/tree.hpp"
#include "topology/topology.hpp"

namespace laple {

/// The tree of `algorithm` over all ranks of `topology`, rooted at `root`, which is the coordinator of its
/// group at every level; the coordinator of every other group is its smallest rank. Groups and members follow
/// the root's in ascending order, wrapping around.
///
///     flat/binomial, root 5, clusters {0 1 2 3} {4 5 6 7}          5 ─┬─ 0 ─┬─ 2 ── 3
///                                                                     │     └─ 1
///                                                                     ├─ 7 ── 4
///                                                                     └─ 6
///
/// Edges to other groups come before those inside the group: the long way starts first.
/// (MagPIe, PPoPP'99; MPICH-G2's multi-level trees; algorithms.md 3g, 3h.)
/// With native_within the innermost groups hold no edges: their coordinators alone are in the tree.
Tree hierarchical_tree(const Topology& topology, const Algorithm& algorithm, Rank root);

/// The tree whose innermost clusters, numbered as in the topology, get the message in `order`, which begins
/// at the root's cluster; inside them it is as above. `spread`: as LevelShape says, within the sending
/// cluster.
Tree ordered_tree(const Topology& topology, const SendOrder& order, bool spread, Shape within, Rank root);

/// The order of messages that makes `shape` of all clusters in turn, the root's first.
SendOrder order_of_shape(Shape shape, int clusters, int root);

/// The same inside one group of the outermost level: the tree over its members, rooted at `root`, one of
/// them. In a flat topology every rank is a cluster of its own.
Tree cluster_tree(const Topology& topology, const Algorithm& algorithm, Rank root);

/// The outermost groups as lists of ranks; single ranks in a flat topology.
std::vector<std::vector<Rank>> outermost_groups(const Topology& topology);

/// The ranks that share the innermost group with `rank`, ascending. Only `rank` itself in a flat topology.
std::vector<Rank> innermost_group(const Topology& topology, Rank rank);

/// Whether every group of every level is a run of consecutive ranks: then a hierarchy can keep rank order.
bool has_consecutive_groups(const Topology& topology);

/// The outermost groups as lists of innermost ones, by number.
std::vector<std::vector<int>> groups_of_clusters(const Topology& topology);

}  // namespace laple
