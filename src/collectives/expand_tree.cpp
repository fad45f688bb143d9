// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/expand_tree.hpp"

#include <algorithm>
#include <cstdlib>

#include "collectives/hierarchy.hpp"

namespace laple {

TreeSteps::TreeSteps(const Tree& tree, Rank rank, Use use, ScheduleBuilder& builder)
    : parent_(tree.parent[static_cast<std::size_t>(rank)]),
      children_(tree.children[static_cast<std::size_t>(rank)]),
      builder_(builder) {
    if (use == Use::broadcast) return;
    // The nearest first: a broadcast serves the long way first, so a reduction hears of it last.
    for (const Rank child : children_) {
        operands_.push_back({child, use == Use::reduce_any_order || child < rank, 0});
    }
    std::reverse(operands_.begin(), operands_.end());
    if (use == Use::reduce_rank_order) {
        // The runs of ranks to the left of this one, and those to the right, each from the inside out.
        std::sort(operands_.begin(), operands_.end(), [rank](const Child& a, const Child& b) {
            return std::abs(a.rank - rank) < std::abs(b.rank - rank);
        });
    }
    for (Child& child : operands_) child.buffer = builder_.add_temporary(builder_.window());
}

Place TreeSteps::combine(std::uint32_t block, Place own, Place accumulator) {
    if (operands_.empty()) return own;
    if (own != accumulator) builder_.copy(block, own, accumulator);
    for (const Child& child : operands_) {
        const Place theirs = builder_.at(child.buffer, block);
        builder_.recv(child.rank, block, theirs);
        if (child.is_left) {
            builder_.reduce(block, theirs, accumulator);
        } else {
            builder_.reduce(block, accumulator, theirs);
            builder_.copy(block, theirs, accumulator);
        }
    }
    return accumulator;
}

Place TreeSteps::reduce(std::uint32_t block, Place own, Place accumulator) {
    const Place value = combine(block, own, accumulator);
    if (!is_root()) builder_.send(parent_, block, value);
    return value;
}

void TreeSteps::broadcast(std::uint32_t block, Place place) {
    if (!is_root()) builder_.recv(parent_, block, place);
    for (const Rank child : children_) builder_.send(child, block, place);
}

TreeSteps::Use reduction_use(const Request& request) {
    return request.commutative ? TreeSteps::Use::reduce_any_order : TreeSteps::Use::reduce_rank_order;
}

NativeSteps::NativeSteps(const Plan& plan, const Topology& topology, const Tree& tree, Rank rank,
                         ScheduleBuilder& builder)
    : builder_(builder) {
    if (!plan.algorithm.native_within) return;
    const std::vector<Rank> group = innermost_group(topology, rank);
    if (group.size() == 1) return;
    is_used_ = true;
    coordinator_ = *std::find_if(group.begin(), group.end(), [&](Rank r) { return tree.contains(r); });
}

Place NativeSteps::reduce() {
    if (!is_used_) return {kInput, 0};
    builder_.native(StepKind::native_reduce, coordinator_, {kInput, 0}, {kResult, 0});
    return {kResult, 0};
}

void NativeSteps::broadcast() {
    if (is_used_) builder_.native(StepKind::native_bcast, coordinator_, {kResult, 0}, {kResult, 0});
}

namespace {

void expand_bcast(const Plan& plan, const Topology& topology, const Tree& tree, Rank rank,
                  ScheduleBuilder& builder) {
    NativeSteps native(plan, topology, tree, rank, builder);
    if (tree.contains(rank)) {
        TreeSteps steps(tree, rank, TreeSteps::Use::broadcast, builder);
        const std::uint32_t blocks = plan.blocks().count();
        for (std::uint32_t block = 0; block < blocks; ++block) steps.broadcast(block, {kResult, block});
    }
    native.broadcast();
}

/// The root of the tree ends with the value in kResult; where it is not the user's root, it passes it on.
void expand_reduce(const Plan& plan, const Topology& topology, const Tree& tree, Rank rank,
                   ScheduleBuilder& builder) {
    NativeSteps native(plan, topology, tree, rank, builder);
    const Place group_value = native.reduce();
    const std::uint32_t blocks = plan.blocks().count();
    const Rank root = plan.request.root;
    if (tree.contains(rank)) {
        TreeSteps steps(tree, rank, reduction_use(plan.request), builder);
        for (std::uint32_t block = 0; block < blocks; ++block) {
            const Place own{group_value.buffer, block};
            const Place value = steps.reduce(block, own, {kResult, block});
            if (!steps.is_root()) continue;
            if (rank != root) builder.send(root, block, value);
            if (rank == root && value.buffer == kInput) builder.copy(block, value, {kResult, block});
        }
    }
    if (rank == root && tree.root != root) {
        for (std::uint32_t block = 0; block < blocks; ++block)
            builder.recv(tree.root, block, {kResult, block});
    }
}

void expand_allreduce(const Plan& plan, const Topology& topology, const Tree& tree, Rank rank,
                      ScheduleBuilder& builder) {
    NativeSteps native(plan, topology, tree, rank, builder);
    const Place group_value = native.reduce();
    if (tree.contains(rank)) {
        TreeSteps steps(tree, rank, reduction_use(plan.request), builder);
        const std::uint32_t blocks = plan.blocks().count();
        for (std::uint32_t block = 0; block < blocks; ++block) {
            const Place own{group_value.buffer, block};
            const Place value = steps.reduce(block, own, {kResult, block});
            if (steps.is_root() && value.buffer == kInput) builder.copy(block, value, {kResult, block});
            steps.broadcast(block, {kResult, block});
        }
    }
    native.broadcast();
}

}  // namespace

void expand_tree(const Plan& plan, const Topology& topology, Rank rank, ScheduleBuilder& builder) {
    const Tree tree = tree_of(plan, topology);
    switch (plan.request.collective) {
        case Collective::bcast:
            return expand_bcast(plan, topology, tree, rank, builder);
        case Collective::reduce:
            return expand_reduce(plan, topology, tree, rank, builder);
        case Collective::allreduce:
        case Collective::barrier:
            return expand_allreduce(plan, topology, tree, rank, builder);
    }
}

}  // namespace laple
