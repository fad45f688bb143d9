// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/expand_tree.hpp"

#include <algorithm>
#include <cstdlib>

#include "collectives/hierarchy.hpp"

namespace laple {

Place Landings::next(Rank rank) {
    const auto [entry, is_new] = rings_.try_emplace(rank);
    Ring& ring = entry->second;
    if (is_new) ring = {builder_.add_temporary(builder_.window()), 0};
    return builder_.at(ring.buffer, ring.count++);
}

TreeSteps::TreeSteps(const Tree& tree, Rank rank, Use use, Landings& landings, ScheduleBuilder& builder,
                     int lane)
    : parent_(tree.parent[static_cast<std::size_t>(rank)]),
      children_(tree.children[static_cast<std::size_t>(rank)]),
      landings_(&landings),
      builder_(&builder),
      lane_(lane) {
    if (use == Use::broadcast) return;
    // The nearest first: a broadcast serves the long way first, so a reduction hears of it last.
    for (const Rank child : children_) {
        operands_.push_back({child, use == Use::reduce_any_order || child < rank});
    }
    std::reverse(operands_.begin(), operands_.end());
    if (use == Use::reduce_rank_order) {
        // The runs of ranks to the left of this one, and those to the right, each from the inside out.
        std::sort(operands_.begin(), operands_.end(), [rank](const Child& a, const Child& b) {
            return std::abs(a.rank - rank) < std::abs(b.rank - rank);
        });
    }
}

Place TreeSteps::combine(std::uint32_t block, Place own, Place accumulator) {
    if (operands_.empty()) return own;
    if (own != accumulator) builder_->copy(block, own, accumulator);
    for (const Child& child : operands_) {
        const Place theirs = landings_->next(child.rank);
        builder_->recv(child.rank, block, theirs, 1, contributions(lane_));
        if (child.is_left) {
            builder_->reduce(block, theirs, accumulator);
        } else {
            builder_->reduce(block, accumulator, theirs);
            builder_->copy(block, theirs, accumulator);
        }
    }
    return accumulator;
}

Place TreeSteps::reduce(std::uint32_t block, Place own, Place accumulator) {
    const Place value = combine(block, own, accumulator);
    if (!is_root()) builder_->send(parent_, block, value, 1, contributions(lane_));
    return value;
}

void TreeSteps::broadcast(std::uint32_t block, Place place) {
    if (!is_root()) builder_->recv(parent_, block, place, 1, results(lane_));
    for (const Rank child : children_) builder_->send(child, block, place, 1, results(lane_));
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

/// One for each lane, whose turns the blocks take.
class Lanes {
  public:
    Lanes(std::span<const Tree> trees, Rank rank, TreeSteps::Use use, Landings& landings,
          ScheduleBuilder& builder) {
        steps_.reserve(trees.size());
        for (const Tree& tree : trees)
            steps_.emplace_back(tree, rank, use, landings, builder, static_cast<int>(steps_.size()));
    }
    TreeSteps& of(std::uint32_t block) { return steps_[block % steps_.size()]; }

  private:
    std::vector<TreeSteps> steps_;
};

void expand_bcast(const Plan& plan, const Topology& topology, std::span<const Tree> trees, Rank rank,
                  ScheduleBuilder& builder) {
    const Tree& tree = trees.front();
    NativeSteps native(plan, topology, tree, rank, builder);
    if (tree.contains(rank)) {
        Landings landings(builder);
        Lanes lanes(trees, rank, TreeSteps::Use::broadcast, landings, builder);
        const std::uint32_t blocks = plan.blocks().count();
        for (std::uint32_t block = 0; block < blocks; ++block)
            lanes.of(block).broadcast(block, {kResult, block});
    }
    native.broadcast();
}

/// The root of the tree ends with the value in kResult; where it is not the user's root, it passes it on.
void expand_reduce(const Plan& plan, const Topology& topology, std::span<const Tree> trees, Rank rank,
                   ScheduleBuilder& builder) {
    const Tree& tree = trees.front();
    NativeSteps native(plan, topology, tree, rank, builder);
    const Place group_value = native.reduce();
    const std::uint32_t blocks = plan.blocks().count();
    const Rank root = plan.request.root;
    if (tree.contains(rank)) {
        Landings landings(builder);
        Lanes lanes(trees, rank, reduction_use(plan.request), landings, builder);
        for (std::uint32_t block = 0; block < blocks; ++block) {
            const Place own{group_value.buffer, block};
            const Place value = lanes.of(block).reduce(block, own, {kResult, block});
            if (rank != tree.root) continue;
            if (rank != root) builder.send(root, block, value);
            if (rank == root && value.buffer == kInput) builder.copy(block, value, {kResult, block});
        }
    }
    if (rank == root && tree.root != root) {
        for (std::uint32_t block = 0; block < blocks; ++block)
            builder.recv(tree.root, block, {kResult, block});
    }
}

void expand_allreduce(const Plan& plan, const Topology& topology, std::span<const Tree> trees, Rank rank,
                      ScheduleBuilder& builder) {
    const Tree& tree = trees.front();
    NativeSteps native(plan, topology, tree, rank, builder);
    const Place group_value = native.reduce();
    if (tree.contains(rank)) {
        Landings landings(builder);
        Lanes lanes(trees, rank, reduction_use(plan.request), landings, builder);
        const std::uint32_t blocks = plan.blocks().count();
        for (std::uint32_t block = 0; block < blocks; ++block) {
            const Place own{group_value.buffer, block};
            TreeSteps& steps = lanes.of(block);
            const Place value = steps.reduce(block, own, {kResult, block});
            if (rank == tree.root && value.buffer == kInput) builder.copy(block, value, {kResult, block});
            steps.broadcast(block, {kResult, block});
        }
    }
    native.broadcast();
}

}  // namespace

void expand_tree(const Plan& plan, const Topology& topology, Rank rank, ScheduleBuilder& builder) {
    const std::vector<Tree> trees = trees_of(plan, topology, rank);
    switch (plan.request.collective) {
        case Collective::bcast:
            return expand_bcast(plan, topology, trees, rank, builder);
        case Collective::reduce:
            return expand_reduce(plan, topology, trees, rank, builder);
        case Collective::allreduce:
        case Collective::barrier:
            return expand_allreduce(plan, topology, trees, rank, builder);
    }
}

}  // namespace laple
