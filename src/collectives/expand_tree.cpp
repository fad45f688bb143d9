// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/expand_tree.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "collectives/hierarchy.hpp"

namespace laple {

Place Landings::next(Rank rank) {
    const auto [entry, is_new] = rings_.try_emplace(rank);
    Ring& ring = entry->second;
    if (is_new) ring = {builder_.add_temporary(builder_.window()), 0};
    return builder_.at(ring.buffer, ring.count++);
}

TreeSteps::TreeSteps(RankLinks links, Rank rank, Use use, Landings& landings, ScheduleBuilder& builder,
                     int lane)
    : links_(std::move(links)), landings_(&landings), builder_(&builder), lane_(lane) {
    if (use == Use::broadcast) return;
    operands_.reserve(links_.children.size());
    // The nearest first: a broadcast serves the long way first, so a reduction hears of it last.
    for (const Rank child : links_.children) {
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
    if (!is_root()) builder_->send(links_.parent, block, value, 1, contributions(lane_));
    return value;
}

void TreeSteps::broadcast(std::uint32_t block, Place place) {
    if (!is_root()) builder_->recv(links_.parent, block, place, 1, results(lane_));
    for (const Rank child : links_.children) builder_->send(child, block, place, 1, results(lane_));
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

/// What a plan makes of one rank: its links in the tree, or in those of its lanes, and MPI's own calls.
class Part {
  public:
    Part(const Plan& plan, const Topology& topology, Rank rank, TreeSteps::Use use, ScheduleBuilder& builder)
        : root_(tree_root(plan.request)), landings_(builder) {
        if (plan.algorithm.lanes > 1) {
            const LaneTrees trees = lane_trees_of(plan, topology);
            // Some lanes may have no block.
            const int lanes = std::min(plan.algorithm.lanes, static_cast<int>(plan.blocks().count()));
            lanes_.reserve(static_cast<std::size_t>(lanes));
            for (int lane = 0; lane < lanes; ++lane)
                lanes_.emplace_back(trees.links(lane, rank), rank, use, landings_, builder, lane);
        } else {
            const Tree tree = tree_of(plan, topology);
            native_.emplace(plan, topology, tree, rank, builder);
            if (tree.contains(rank)) lanes_.emplace_back(links_in(tree, rank), rank, use, landings_, builder);
        }
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    bool is_in_tree() const { return !lanes_.empty(); }
    Rank root() const { return root_; }
    /// Blocks take turns.
    TreeSteps& of(std::uint32_t block) { return lanes_[block % lanes_.size()]; }

    /// Where the value of this rank's group is, if it is in the tree. (NativeSteps)
    Place reduce_within() { return native_ ? native_->reduce() : Place{kInput, 0}; }
    void broadcast_within() {
        if (native_) native_->broadcast();
    }

  private:
    Rank root_;
    Landings landings_;
    std::vector<TreeSteps> lanes_;
    std::optional<NativeSteps> native_;
};

void expand_bcast(const Plan& plan, const Topology& topology, Rank rank, ScheduleBuilder& builder) {
    Part part(plan, topology, rank, TreeSteps::Use::broadcast, builder);
    if (part.is_in_tree()) {
        const std::uint32_t blocks = plan.blocks().count();
        for (std::uint32_t block = 0; block < blocks; ++block)
            part.of(block).broadcast(block, {kResult, block});
    }
    part.broadcast_within();
}

/// The root of the tree ends with the value in kResult; where it is not the user's root, it passes it on.
void expand_reduce(const Plan& plan, const Topology& topology, Rank rank, ScheduleBuilder& builder) {
    Part part(plan, topology, rank, reduction_use(plan.request), builder);
    const Place group_value = part.reduce_within();
    const std::uint32_t blocks = plan.blocks().count();
    const Rank root = plan.request.root;
    if (part.is_in_tree()) {
        for (std::uint32_t block = 0; block < blocks; ++block) {
            const Place own{group_value.buffer, block};
            const Place value = part.of(block).reduce(block, own, {kResult, block});
            if (rank != part.root()) continue;
            if (rank != root) builder.send(root, block, value);
            if (rank == root && value.buffer == kInput) builder.copy(block, value, {kResult, block});
        }
    }
    if (rank == root && part.root() != root) {
        for (std::uint32_t block = 0; block < blocks; ++block)
            builder.recv(part.root(), block, {kResult, block});
    }
}

void expand_allreduce(const Plan& plan, const Topology& topology, Rank rank, ScheduleBuilder& builder) {
    Part part(plan, topology, rank, reduction_use(plan.request), builder);
    const Place group_value = part.reduce_within();
    if (part.is_in_tree()) {
        const std::uint32_t blocks = plan.blocks().count();
        for (std::uint32_t block = 0; block < blocks; ++block) {
            const Place own{group_value.buffer, block};
            TreeSteps& steps = part.of(block);
            const Place value = steps.reduce(block, own, {kResult, block});
            if (rank == part.root() && value.buffer == kInput) builder.copy(block, value, {kResult, block});
            steps.broadcast(block, {kResult, block});
        }
    }
    part.broadcast_within();
}

}  // namespace

void expand_tree(const Plan& plan, const Topology& topology, Rank rank, ScheduleBuilder& builder) {
    switch (plan.request.collective) {
        case Collective::bcast:
            return expand_bcast(plan, topology, rank, builder);
        case Collective::reduce:
            return expand_reduce(plan, topology, rank, builder);
        case Collective::allreduce:
        case Collective::barrier:
            return expand_allreduce(plan, topology, rank, builder);
    }
}

}  // namespace laple
