// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collectives/collective/request.hpp"
#include "collectives/schedule/builder.hpp"
#include "collectives/trees/tree.hpp"
#include "topology/machine.hpp"

namespace laple {

/// The receive slots of contributions, until they are combined: for each sending rank a ring of as many slots
/// as its window, each for one segment, however many trees there are.
class ReceiveSlots {
  public:
    ReceiveSlots(const Segments& segments, ScheduleBuilder& builder);
    /// The next slot for `units` units from `rank`.
    Region next(Rank rank, std::uint64_t units);

  private:
    struct Ring {
        Buffer buffer;
        std::uint32_t count;
    };
    ScheduleBuilder& builder_;
    std::uint64_t units_per_slot_;
    std::uint32_t slots_;
    std::unordered_map<Rank, Ring> rings_;
};

/// The part of a rank in a reduction or broadcast along one tree, segment by segment. Also the local phases
/// of algorithms that are more than one tree.
class TreeSteps {
  public:
    enum class Use {
        broadcast,
        reduce_any_order,   ///< the operation is commutative: each contribution is combined from the left
        reduce_rank_order,  ///< needs keeps_rank_order(tree), or leaders of such groups
    };

    /// `links`: of `rank` in the tree. `slots` and `builder` must outlive this. `lane`: whose channels are
    /// used.
    TreeSteps(RankLinks links, Rank rank, Use use, ReceiveSlots& slots, ScheduleBuilder& builder,
              int lane = 0);

    bool is_root() const { return links_.parent < 0; }

    /// Receives the children's partial results of a segment and combines them with `own`. Returns where the
    /// combined value is: `accumulator`, or `own` when there are no children. `own` may be the same place as
    /// `accumulator`; it is left as it was otherwise.
    Region combine(Region own, Place accumulator);
    /// combine(), then sends the value to the parent, if any. Returns where the value is.
    Region reduce(Region own, Place accumulator);
    /// Receives a segment into `region` from the parent, if any, and sends it to the children.
    void broadcast(Region region);

  private:
    struct Child {
        Rank rank;
        bool is_left;  // its value is the left operand, ours the right one
    };
    RankLinks links_;
    std::vector<Child> operands_;  // in reduction order
    ReceiveSlots* slots_;
    ScheduleBuilder* builder_;
    int lane_;
};

/// How the operation of `request` lets contributions be combined.
TreeSteps::Use reduction_use(const Request& request);

/// MPI's own collective inside this rank's cluster, on the whole message: first and last phase of algorithms
/// that leave clusters to it. Does nothing where the rank is alone in its cluster.
class NativeSteps {
  public:
    /// `tree` joins the clusters: of each it holds the leader only.
    NativeSteps(const Request& request, const Machine& machine, const Tree& tree, Rank rank,
                ScheduleBuilder& builder);

    /// The cluster reduces to its leader. Returns which buffer holds the value there.
    Buffer reduce();
    /// The cluster gets kResult from its leader.
    void broadcast();

  private:
    ScheduleBuilder& builder_;
    std::uint64_t units_;
    Rank leader_ = -1;  // of a cluster of several ranks
};

}  // namespace laple
