// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/strategy_steps.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "collectives/expand_tree.hpp"

namespace laple {
namespace {

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

/// Consecutive blocks, as far as there are any.
struct BlockRun {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// Those of members `first` … `end` - 1.
BlockRun blocks_of(const Blocks& blocks, int first, int end) {
    const std::uint32_t all = blocks.count();
    const std::uint32_t from = std::min(static_cast<std::uint32_t>(first), all);
    return {from, std::min(static_cast<std::uint32_t>(end), all) - from};
}

void send_run(ScheduleBuilder& builder, Rank peer, BlockRun run) {
    if (run.count > 0) builder.send(peer, run.first, {kResult, run.first}, run.count);
}
void recv_run(ScheduleBuilder& builder, Rank peer, BlockRun run) {
    if (run.count > 0) builder.recv(peer, run.first, {kResult, run.first}, run.count);
}

int size_of(const LocalRanks& ranks) {
    return static_cast<int>(ranks.ranks.size());
}
/// The member `distance` to the right, all around.
int beside(const LocalRanks& ranks, int distance) {
    const int size = size_of(ranks);
    return ((ranks.self + distance) % size + size) % size;
}
Rank rank_at(const LocalRanks& ranks, int member) {
    return ranks.ranks[at(member)];
}

void copy_input(const Blocks& blocks, ScheduleBuilder& builder) {
    builder.copy(0, {kInput, 0}, {kResult, 0}, blocks.count());
}

/// This rank's links in a tree over members.
RankLinks own_links(const Tree& tree, const LocalRanks& ranks) {
    RankLinks links = links_in(tree, ranks.self);
    if (links.parent >= 0) links.parent = rank_at(ranks, links.parent);
    for (Rank& child : links.children) child = rank_at(ranks, child);
    return links;
}

/// Member of the complete tree numbered in order over first … end - 1: the largest power of two from the
/// left.
int middle_of(int first, int end) {
    return first - 1 + static_cast<int>(std::bit_floor(static_cast<unsigned>(end - first)));
}

/// Adds that tree below `above`; `member_of` says who has which number.
template <typename MemberOf>
void link_in_order(Tree& tree, int above, int first, int end, MemberOf member_of) {
    if (first >= end) return;
    const int middle = middle_of(first, end);
    tree.link(above, member_of(middle));
    link_in_order(tree, member_of(middle), first, middle, member_of);
    link_in_order(tree, member_of(middle), middle + 1, end, member_of);
}

/// Members below each member of a shape, itself included: they follow it.
std::vector<int> sizes_below(const ShapeLinks& links) {
    std::vector<int> sizes(links.parent.size(), 1);
    for (std::size_t member = sizes.size(); member-- > 1;) sizes[at(links.parent[member])] += sizes[member];
    return sizes;
}

}  // namespace

Tree local_tree(Shape shape, int ranks) {
    Tree tree = Tree::lone_root(ranks, 0);
    const ShapeLinks links = links_of(shape, ranks);
    for (int member = 0; member < ranks; ++member) {
        for (const int child : links.children[at(member)]) tree.link(member, child);
    }
    return tree;
}

TwoTrees two_trees(int ranks) {
    TwoTrees trees{Tree::lone_root(ranks, 0), Tree::lone_root(ranks, 0)};
    const int others = ranks - 1;
    link_in_order(trees.first, 0, 1, ranks, [](int number) { return number; });
    link_in_order(trees.second, 0, 1, ranks, [others](int number) {
        if (others % 2 == 0) return others + 1 - number;
        return number == 1 ? others : number - 1;
    });
    return trees;
}

void add_tree_bcast(const Tree& tree, const LocalRanks& ranks, const Blocks& blocks,
                    ScheduleBuilder& builder) {
    Landings landings(builder);
    TreeSteps steps(own_links(tree, ranks), rank_at(ranks, ranks.self), TreeSteps::Use::broadcast, landings,
                    builder);
    for (std::uint32_t block = 0; block < blocks.count(); ++block) steps.broadcast(block, {kResult, block});
}

void add_two_tree_bcast(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    const TwoTrees trees = two_trees(size_of(ranks));
    const Rank self = rank_at(ranks, ranks.self);
    Landings landings(builder);
    TreeSteps even(own_links(trees.first, ranks), self, TreeSteps::Use::broadcast, landings, builder);
    TreeSteps odd(own_links(trees.second, ranks), self, TreeSteps::Use::broadcast, landings, builder);
    for (std::uint32_t block = 0; block < blocks.count(); ++block)
        (block % 2 == 0 ? even : odd).broadcast(block, {kResult, block});
}

void add_tree_reduce(const Tree& tree, const LocalRanks& ranks, const Blocks& blocks,
                     ScheduleBuilder& builder) {
    Landings landings(builder);
    TreeSteps steps(own_links(tree, ranks), rank_at(ranks, ranks.self), TreeSteps::Use::reduce_any_order,
                    landings, builder);
    for (std::uint32_t block = 0; block < blocks.count(); ++block) {
        const Place value = steps.reduce(block, {kInput, block}, {kResult, block});
        if (steps.is_root() && value.buffer == kInput) builder.copy(block, value, {kResult, block});
    }
}

void add_scatter(Shape shape, const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    const ShapeLinks links = links_of(shape, size_of(ranks));
    const std::vector<int> below = sizes_below(links);
    const int self = ranks.self;
    if (self > 0) {
        recv_run(builder, rank_at(ranks, links.parent[at(self)]),
                 blocks_of(blocks, self, self + below[at(self)]));
    }
    for (const int child : links.children[at(self)])
        send_run(builder, rank_at(ranks, child), blocks_of(blocks, child, child + below[at(child)]));
}

/// Time running backwards: the child that is served first in a scatter is the last that is waited for.
void add_gather(Shape shape, const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    const ShapeLinks links = links_of(shape, size_of(ranks));
    const std::vector<int> below = sizes_below(links);
    const int self = ranks.self;
    const auto& children = links.children[at(self)];
    for (auto child = children.rbegin(); child != children.rend(); ++child)
        recv_run(builder, rank_at(ranks, *child), blocks_of(blocks, *child, *child + below[at(*child)]));
    if (self > 0) {
        send_run(builder, rank_at(ranks, links.parent[at(self)]),
                 blocks_of(blocks, self, self + below[at(self)]));
    }
}

void add_ring_allgather(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    const Rank right = rank_at(ranks, beside(ranks, 1));
    const Rank left = rank_at(ranks, beside(ranks, -1));
    for (int round = 0; round < size_of(ranks) - 1; ++round) {
        const int out = beside(ranks, -round);
        const int in = beside(ranks, -round - 1);
        send_run(builder, right, blocks_of(blocks, out, out + 1));
        recv_run(builder, left, blocks_of(blocks, in, in + 1));
    }
}

void add_doubling_allgather(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    for (int distance = 1; distance < size_of(ranks); distance *= 2) {
        const int peer = ranks.self ^ distance;
        const int ours = ranks.self / distance * distance;
        const int theirs = peer / distance * distance;
        send_run(builder, rank_at(ranks, peer), blocks_of(blocks, ours, ours + distance));
        recv_run(builder, rank_at(ranks, peer), blocks_of(blocks, theirs, theirs + distance));
    }
}

void add_ring_reduce_scatter(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    copy_input(blocks, builder);
    const std::uint32_t buffer = builder.add_temporary(builder.window());
    const Rank right = rank_at(ranks, beside(ranks, 1));
    const Rank left = rank_at(ranks, beside(ranks, -1));
    for (int round = 0; round < size_of(ranks) - 1; ++round) {
        const int out = beside(ranks, -round - 1);
        const int in = beside(ranks, -round - 2);
        send_run(builder, right, blocks_of(blocks, out, out + 1));
        const BlockRun mine = blocks_of(blocks, in, in + 1);
        if (mine.count == 0) continue;
        const Place theirs = builder.at(buffer, mine.first);
        builder.recv(left, mine.first, theirs);
        builder.reduce(mine.first, theirs, {kResult, mine.first});
    }
}

void add_halving_reduce_scatter(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    copy_input(blocks, builder);
    const int half = size_of(ranks) / 2;
    const std::uint32_t buffer = builder.add_temporary(static_cast<std::uint32_t>(std::max(half, 1)));
    for (int distance = half; distance >= 1; distance /= 2) {
        const int peer = ranks.self ^ distance;
        const int ours = ranks.self / distance * distance;
        const int theirs = peer / distance * distance;
        send_run(builder, rank_at(ranks, peer), blocks_of(blocks, theirs, theirs + distance));
        const BlockRun mine = blocks_of(blocks, ours, ours + distance);
        if (mine.count == 0) continue;
        const Place incoming{buffer, 0};
        builder.recv(rank_at(ranks, peer), mine.first, incoming, mine.count);
        builder.reduce(mine.first, incoming, {kResult, mine.first}, mine.count);
    }
}

void add_doubling_allreduce(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    copy_input(blocks, builder);
    const std::uint32_t buffer = builder.add_temporary(blocks.count());
    for (int distance = 1; distance < size_of(ranks); distance *= 2) {
        const Rank peer = rank_at(ranks, ranks.self ^ distance);
        const bool is_left = (ranks.self & distance) != 0;
        builder.send(peer, 0, {kResult, 0}, blocks.count());
        builder.recv(peer, 0, {buffer, 0}, blocks.count());
        if (is_left) {
            builder.reduce(0, {buffer, 0}, {kResult, 0}, blocks.count());
        } else {
            builder.reduce(0, {kResult, 0}, {buffer, 0}, blocks.count());
            builder.copy(0, {buffer, 0}, {kResult, 0}, blocks.count());
        }
    }
}

void add_dissemination(const LocalRanks& ranks, const Blocks& blocks, ScheduleBuilder& builder) {
    copy_input(blocks, builder);
    const std::uint32_t buffer = builder.add_temporary(1);
    for (int distance = 1; distance < size_of(ranks); distance *= 2) {
        builder.send(rank_at(ranks, beside(ranks, distance)), 0, {kResult, 0});
        builder.recv(rank_at(ranks, beside(ranks, -distance)), 0, {buffer, 0});
        builder.reduce(0, {buffer, 0}, {kResult, 0});
    }
}

}  // namespace laple
