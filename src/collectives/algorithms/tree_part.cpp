// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/tree_part.hpp"

#include <algorithm>

#include "collectives/algorithms/pricing.hpp"
#include "collectives/collective/collective.hpp"

namespace laple {
namespace {

TreeSteps::Use use_of(const Request& request) {
    return row_of(request.collective).combines ? reduction_use(request) : TreeSteps::Use::broadcast;
}

}  // namespace

TreePart::TreePart(const Part& part, const Segments& segments, const Tree& tree, bool native_in_clusters,
                   ScheduleBuilder& builder)
    : part_(part), segments_(segments), builder_(builder), root_(tree.root), slots_(segments, builder) {
    if (native_in_clusters) native_.emplace(part.request, part.machine, tree, part.rank, builder);
    if (!tree.contains(part.rank)) return;
    lanes_.emplace_back(links_in(tree, part.rank), part.rank, use_of(part.request), slots_, builder);
}

TreePart::TreePart(const Part& part, const Segments& segments, const LaneTrees& trees, int lanes,
                   ScheduleBuilder& builder)
    : part_(part),
      segments_(segments),
      builder_(builder),
      root_(tree_root(part.request)),
      slots_(segments, builder) {
    // Some lanes may have no segment.
    const int used = std::min(lanes, static_cast<int>(segments.count()));
    lanes_.reserve(static_cast<std::size_t>(used));
    for (int lane = 0; lane < used; ++lane)
        lanes_.emplace_back(trees.links(lane, part.rank), part.rank, use_of(part.request), slots_, builder,
                            lane);
}

void TreePart::write() {
    const CollectiveRow& row = row_of(part_.request.collective);
    if (!row.combines) return write_bcast();
    if (row.is_rooted) return write_reduce();
    write_allreduce();
}

void TreePart::write_bcast() {
    for (std::uint32_t i = 0; i < segments_.count() && !lanes_.empty(); ++i)
        of(i).broadcast(region_in(kResult, segments_.at(i)));
    if (native_) native_->broadcast();
}

/// The root of the tree ends with the value in kResult; where it is not the user's root, it passes it on.
void TreePart::write_reduce() {
    const Buffer own = native_ ? native_->reduce() : kInput;
    const Rank root = part_.request.root;
    for (std::uint32_t i = 0; i < segments_.count() && !lanes_.empty(); ++i) {
        const Region result = region_in(kResult, segments_.at(i));
        const Region value = of(i).reduce(region_in(own, segments_.at(i)), result.place());
        if (part_.rank != root_) continue;
        if (part_.rank != root) builder_.send(root, value);
        if (part_.rank == root && value.buffer == kInput) builder_.copy(value, result.place());
    }
    if (part_.rank != root || root_ == root) return;
    for (std::uint32_t i = 0; i < segments_.count(); ++i)
        builder_.recv(root_, region_in(kResult, segments_.at(i)));
}

void TreePart::write_allreduce() {
    const Buffer own = native_ ? native_->reduce() : kInput;
    for (std::uint32_t i = 0; i < segments_.count() && !lanes_.empty(); ++i) {
        const Region result = region_in(kResult, segments_.at(i));
        const Region value = of(i).reduce(region_in(own, segments_.at(i)), result.place());
        if (part_.rank == root_ && value.buffer == kInput) builder_.copy(value, result.place());
        of(i).broadcast(result);
    }
    if (native_) native_->broadcast();
}

}  // namespace laple
