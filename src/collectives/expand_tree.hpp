// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collectives/plan.hpp"
#include "collectives/schedule.hpp"
#include "collectives/tree.hpp"

namespace laple {

/// The plans that use one tree over all ranks: bcast, reduce, and allreduce or barrier as one after the
/// other.
///
///     Bcast     each block goes down the tree as soon as it arrives; the long way first
///     Reduce    each block goes up: own ∘ nearest child ∘ next child …, the long way last
///     Allreduce each block goes up to the root and down again; blocks follow one another
///
/// Segmented, a chain is the pipeline of seed 003's table: (P-1)(g(s)+L) + g(s)(k-1). Blocks of a plan with
/// lanes take turns between their trees.
void expand_tree(const Plan& plan, const Topology& topology, Rank rank, ScheduleBuilder& builder);

/// Where contributions of other ranks land until they are combined: of each rank in a ring of as many blocks
/// as the window has, however many trees bring them.
class Landings {
  public:
    explicit Landings(ScheduleBuilder& builder) : builder_(builder) {}
    /// The next place for a block from `rank`.
    Place next(Rank rank);

  private:
    struct Ring {
        std::uint32_t buffer;
        std::uint32_t count;
    };
    ScheduleBuilder& builder_;
    std::unordered_map<Rank, Ring> rings_;
};

/// The part of a rank in a reduction or broadcast along one tree, block by block. Also the local phases
/// of the plans that are more than one tree.
class TreeSteps {
  public:
    enum class Use {
        broadcast,
        reduce_any_order,   ///< the operation is commutative: each contribution is combined from the left
        reduce_rank_order,  ///< needs keeps_rank_order(tree), or coordinators of such groups
    };

    /// `links`: of `rank` in the tree. `landings` and `builder` must outlive this. `lane`: whose channels are
    /// used.
    TreeSteps(RankLinks links, Rank rank, Use use, Landings& landings, ScheduleBuilder& builder,
              int lane = 0);

    bool is_root() const { return links_.parent < 0; }
    bool is_leaf() const { return links_.children.empty(); }

    /// Receives the children's partial results of `block` and combines them with `own`. Returns where the
    /// combined value is: `accumulator`, or `own` when there are no children. `own` may be the same place as
    /// `accumulator`; it is left as it was otherwise.
    Place combine(std::uint32_t block, Place own, Place accumulator);
    /// combine(), then sends the value to the parent, if any. Returns where the value is.
    Place reduce(std::uint32_t block, Place own, Place accumulator);
    /// Receives `block` into `place` from the parent, if any, and sends it to the children.
    void broadcast(std::uint32_t block, Place place);

  private:
    struct Child {
        Rank rank;
        bool is_left;  // its value is the left operand, ours the right one
    };
    RankLinks links_;
    std::vector<Child> operands_;  // in reduction order
    Landings* landings_;
    ScheduleBuilder* builder_;
    int lane_;
};

/// How the operation of `request` lets contributions be combined.
TreeSteps::Use reduction_use(const Request& request);

/// MPI's own collective inside this rank's innermost group: first and last phase of plans with native_within,
/// whose messages are one block. Does nothing in other plans and where the rank is alone in its group.
class NativeSteps {
  public:
    /// `tree` joins the groups: of each it holds the coordinator only.
    NativeSteps(const Plan& plan, const Topology& topology, const Tree& tree, Rank rank,
                ScheduleBuilder& builder);

    /// The group reduces to its coordinator. Returns where the value is there.
    Place reduce();
    /// The group gets kResult from its coordinator.
    void broadcast();

  private:
    ScheduleBuilder& builder_;
    bool is_used_ = false;
    Rank coordinator_ = -1;
};

}  // namespace laple
