// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/tree_steps.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace laple {

ReceiveSlots::ReceiveSlots(const Segments& segments, ScheduleBuilder& builder)
    : builder_(builder),
      units_per_slot_(segments.units_per_segment),
      slots_(std::min(builder.window(), segments.count())) {}

Region ReceiveSlots::next(Rank rank, std::uint64_t units) {
    const auto [entry, is_new] = rings_.try_emplace(rank);
    Ring& ring = entry->second;
    if (is_new) ring = {builder_.add_temporary(slots_ * units_per_slot_), 0};
    return {ring.buffer, ring.count++ % slots_ * units_per_slot_, units};
}

TreeSteps::TreeSteps(RankLinks links, Rank rank, Use use, ReceiveSlots& slots, ScheduleBuilder& builder,
                     int lane)
    : links_(std::move(links)), slots_(&slots), builder_(&builder), lane_(lane) {
    if (use == Use::broadcast) return;
    operands_.reserve(links_.children.size());
    // The closest first: a broadcast serves the long path first, so a reduction gets its part last.
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

Region TreeSteps::combine(Region own, Place accumulator) {
    if (operands_.empty()) return own;
    const Region sum{accumulator.buffer, accumulator.offset, own.units};
    if (own != sum) builder_->copy(own, accumulator);
    for (const Child& child : operands_) {
        const Region theirs = slots_->next(child.rank, own.units);
        builder_->recv(child.rank, theirs, contributions(lane_));
        if (child.is_left) {
            builder_->reduce(theirs, accumulator);
        } else {
            builder_->reduce(sum, theirs.place());
            builder_->copy(theirs, accumulator);
        }
    }
    return sum;
}

Region TreeSteps::reduce(Region own, Place accumulator) {
    const Region value = combine(own, accumulator);
    if (!is_root()) builder_->send(links_.parent, value, contributions(lane_));
    return value;
}

void TreeSteps::broadcast(Region region) {
    if (!is_root()) builder_->recv(links_.parent, region, results(lane_));
    for (const Rank child : links_.children) builder_->send(child, region, results(lane_));
}

TreeSteps::Use reduction_use(const Request& request) {
    return request.commutative ? TreeSteps::Use::reduce_any_order : TreeSteps::Use::reduce_rank_order;
}

NativeSteps::NativeSteps(const Request& request, const Machine& machine, const Tree& tree, Rank rank,
                         ScheduleBuilder& builder)
    : builder_(builder), units_(request.units) {
    const std::vector<Rank> cluster = machine.ranks_in(machine.cluster_of_rank(rank));
    if (cluster.size() == 1) return;
    leader_ = *std::find_if(cluster.begin(), cluster.end(), [&](Rank r) { return tree.contains(r); });
}

Buffer NativeSteps::reduce() {
    if (leader_ < 0) return kInput;
    builder_.native(StepKind::native_reduce, leader_, {kInput, 0, units_}, {kResult, 0});
    return kResult;
}

void NativeSteps::broadcast() {
    if (leader_ >= 0) builder_.native(StepKind::native_bcast, leader_, {kResult, 0, units_}, {kResult, 0});
}

}  // namespace laple
