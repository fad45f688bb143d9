// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/tree_steps.hpp"
#include "collectives/collective/collective.hpp"

namespace laple {

/// What a rank knows of the ranks before it, segment by segment: what they and it have contributed, combined,
/// which it passes on, and its result.
class Prefix {
  public:
    Prefix(const Part& part, ScheduleBuilder& builder, const Segments& segments)
        : builder_(builder),
          slots_(segments, builder),
          is_exclusive_(row_of(part.request.collective).excludes_own) {
        if (is_exclusive_) inclusive_ = builder.add_temporary(part.request.units);
    }

    void begin(Segment segment) {
        segment_ = segment;
        has_result_ = !is_exclusive_;
        builder_.copy(region_in(kInput, segment), inclusive().place());
    }

    /// With what `rank` sends, which comes before all that is known here.
    void add_from(Rank rank, Channel channel) {
        if (is_exclusive_ && !has_result_) {
            builder_.recv(rank, result(), channel);
            builder_.reduce(result(), inclusive().place());
        } else {
            add(receive(rank, channel));
        }
        has_result_ = true;
    }
    /// The same of what is here already.
    void add(Region earlier) {
        builder_.reduce(earlier, inclusive().place());
        if (is_exclusive_ && has_result_) builder_.reduce(earlier, result().place());
        if (is_exclusive_ && !has_result_) builder_.copy(earlier, result().place());
        has_result_ = true;
    }

    /// The same, where nothing is sent after it: of an exscan the result is all that is left to find.
    void add_last(Region earlier) {
        if (!is_exclusive_) return add(earlier);
        if (has_result_) {
            builder_.reduce(earlier, result().place());
        } else {
            builder_.copy(earlier, result().place());
        }
        has_result_ = true;
    }

    /// What was combined so far.
    void copy_to(Place place) { builder_.copy(inclusive(), place); }
    void send(Rank rank, Channel channel) { builder_.send(rank, inclusive(), channel); }
    Region receive(Rank rank, Channel channel) { return receive(rank, channel, rank); }
    /// Into the ring of slots that is named after rank `ring`.
    Region receive(Rank rank, Channel channel, Rank ring) {
        const Region slot = slots_.next(ring, segment_.units);
        builder_.recv(rank, slot, channel);
        return slot;
    }

  private:
    Region inclusive() const { return region_in(is_exclusive_ ? inclusive_ : kResult, segment_); }
    Region result() const { return region_in(kResult, segment_); }

    ScheduleBuilder& builder_;
    ReceiveSlots slots_;
    bool is_exclusive_;
    Buffer inclusive_ = kResult;
    Segment segment_;
    bool has_result_ = false;
};

}  // namespace laple
