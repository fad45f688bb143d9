// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/units.hpp"
#include "collectives/trees/tree.hpp"
#include "topology/machine.hpp"

namespace laple {

/// The innermost level of every tree: one rank of each host, its leader, has edges to other hosts; all others
/// of the host are below it.
///
///     leader 5 of the host {1 3 5 7}      5 ─┬─ 1 ── 3        binomial over the host's ranks from the leader
///                                            └─ 7             on, wrapping around
///
/// Leaders change from lane to lane, so that the ranks of a host share the work of its port.
Rank leader_on(const Machine& machine, Host host, int lane = 0);

/// The same in a tree with a root, which leads its host in every lane.
Rank leader_on(const Machine& machine, Host host, int lane, Rank root);

/// The shape of that tree: for whole messages binomial, for segments binary, in which no rank passes on a
/// segment more than twice.
Shape shape_on_host(bool in_segments);

/// The neighbours of `rank` among the ranks of its host, below `leader`; the leader has no parent.
RankLinks links_on_host(const Machine& machine, Rank rank, Rank leader, Shape shape);

}  // namespace laple
