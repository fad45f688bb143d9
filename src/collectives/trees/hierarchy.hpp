// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/units.hpp"
#include "collectives/trees/send_order.hpp"
#include "collectives/trees/tree.hpp"
#include "topology/machine.hpp"

namespace laple {

/// The tree that joins the groups of one level of a machine.
struct LevelShape {
    Shape shape;
    /// Where the edges to other groups leave a group: all from its leader (false), or each from the host that
    /// has the least to send so far (true), so that no single NIC carries the message several times.
    bool multi_leader = false;

    bool operator==(const LevelShape&) const = default;
};

/// The shapes of a tree over all ranks, from the outermost level to the innermost.
struct TreeShape {
    /// Of groups and clusters, outermost first; of fewer than the machine has levels, the last one is
    /// repeated; empty: as `within`.
    std::vector<LevelShape> between;
    Shape within;               ///< of the hosts of a cluster
    Shape on_host;              ///< of the ranks of a host
    bool leaders_only = false;  ///< of each cluster the leader alone is in the tree
};

/// The tree of that shape over all ranks of `machine`, rooted at `root`, which leads its host, its cluster
/// and its group at every level; all others are led by their smallest rank. Groups and hosts follow the
/// root's in ascending order, wrapping around.
///
///     flat between clusters, binomial within, root 5, clusters {0 1 2 3} {4 5 6 7}
///
///         5 ─┬─ 0 ─┬─ 2 ── 3
///            │     └─ 1
///            ├─ 7 ── 4
///            └─ 6
///
/// Edges to other groups come before those inside the group, edges to other hosts before those on the host:
/// the long path starts first. (MagPIe, PPoPP'99; MPICH-G2's multi-level trees)
Tree hierarchical_tree(const Machine& machine, const TreeShape& shape, Rank root);

/// The same inside one group of the outermost level: the tree over its ranks, rooted at `root`, one of them.
/// `shape.between` is that of the levels inside it. Hosts are led by their leaders of `lane` (host_tree.hpp).
/// Where a machine has one cluster, its hosts count as groups.
Tree group_tree(const Machine& machine, const TreeShape& shape, Rank root, int lane);

/// The tree whose clusters get the message in `order`, which begins at the root's cluster; inside them it is
/// as above. `multi_leader`: as in LevelShape.
Tree ordered_tree(const Machine& machine, const SendOrder& order, bool multi_leader, Shape within,
                  Shape on_host, Rank root);

/// The order of messages that makes `shape` of all clusters in turn, the root's first.
SendOrder order_of_shape(Shape shape, int clusters, int root);

/// The hosts of each group of the outermost level; where a machine has one cluster, its hosts count as
/// groups.
std::vector<std::vector<Host>> outermost_hosts(const Machine& machine);

}  // namespace laple
