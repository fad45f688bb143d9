// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/tree_steps.hpp"
#include "collectives/trees/striped_trees.hpp"

namespace laple {

/// One rank's part of an algorithm along one tree, or in lanes along several: what it does with each segment.
class TreePart {
  public:
    /// Along `tree`; with `native_in_clusters` it holds leaders only.
    TreePart(const Part& part, const Segments& segments, const Tree& tree, bool native_in_clusters,
             ScheduleBuilder& builder);
    /// Along the trees of `lanes` lanes.
    TreePart(const Part& part, const Segments& segments, const LaneTrees& trees, int lanes,
             ScheduleBuilder& builder);
    TreePart(const TreePart&) = delete;
    TreePart& operator=(const TreePart&) = delete;

    /// Writes all steps of the collective.
    void write();

  private:
    void write_bcast();
    void write_reduce();
    void write_allreduce();
    /// Segments take turns.
    TreeSteps& of(std::uint32_t segment) { return lanes_[segment % lanes_.size()]; }

    const Part& part_;
    Segments segments_;
    ScheduleBuilder& builder_;
    Rank root_;  // of the tree
    ReceiveSlots slots_;
    std::vector<TreeSteps> lanes_;  // empty: the rank is not in the tree
    std::optional<NativeSteps> native_;
};

}  // namespace laple
