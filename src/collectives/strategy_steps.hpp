// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/schedule.hpp"
#include "collectives/strategy.hpp"
#include "collectives/tree.hpp"

namespace laple {

/// The tree of `shape` over the members of a cluster, by index.
Tree local_tree(Shape shape, int ranks);

/// Two trees below member 0, over all others: each of them passes on in one tree and is a leaf of the other,
/// so that all ports are busy and none has more than the message to send. The first is numbered in order, so
/// that leaves and inner members alternate; the second is its mirror image, or for an odd number of members
/// the first one moved by one.
///
///     first   0 ── 4 ─┬─ 2 ─┬─ 1     second   0 ── 3 ─┬─ 5 ─┬─ 6      (six others)
///                     │     └─ 3                       │     └─ 4
///                     └─ 6 ─── 5                       └─ 1 ─── 2
///
/// (Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009)
struct TwoTrees {
    Tree first;
    Tree second;
};
TwoTrees two_trees(int ranks);

// What follows adds the steps of one rank to a schedule. Member i of a cluster has, or ends with, block i
// where the message is cut into parts; where there are fewer blocks than members the last ones have none.

/// Every block goes down the tree as soon as it is there.
void add_tree_bcast(const Tree& tree, const LocalRanks& ranks, const Blocks& blocks,
                    ScheduleBuilder& builder);
/// Even blocks along the first tree, odd ones along the second.
void add_two_tree_bcast(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);
/// Every block goes up the tree and is combined on the way; member 0 ends with it.
void add_tree_reduce(const Tree& tree, const LocalRanks& ranks, const Blocks& blocks,
                     ScheduleBuilder& builder);
/// Each member gets the parts of all below it in one message.
void add_scatter(Shape shape, const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);
void add_gather(Shape shape, const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);
/// Parts go around, each to the next member, until all have all.
void add_ring_allgather(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);
/// Members 1, 2, 4 … apart swap all that they have. A power of two.
void add_doubling_allgather(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);
/// Sums go around, each growing at every member, and end with their owner.
void add_ring_reduce_scatter(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);
/// Members … 4, 2, 1 apart swap the half that the other one goes on with. A power of two.
void add_halving_reduce_scatter(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);
/// Members 1, 2, 4 … apart swap and combine everything. A power of two.
void add_doubling_allreduce(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);
/// In round r everybody tells the member 2^r to the right that all it knows of have arrived.
void add_dissemination(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder);

}  // namespace laple
