// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/cost/reduction_walk.hpp"
#include "collectives/cost/tree_price.hpp"

namespace laple {

/// The interval that holds up all segments after the first one longest, and what it is of.
struct Interval {
    double seconds = 0;
    double total = 0;  ///< of all of them, without what a rested NIC saves
    Binding binding;

    void at_least(const Interval& other) {
        const bool is_longer = other.total > total || (other.total == total && other.seconds > seconds);
        if (is_longer) *this = other;
    }
};

/// When a member has the first segment, and how far apart the next ones come.
struct Arrival {
    double first = 0;
    Interval interval;
};

/// The load that a parent puts on a port with each segment, where segments go both ways.
struct ForParent {
    double to = 0;
    double from = 0;

    /// How long the port is busy, when it is so long with its children's.
    double busy(double to_children, double from_children) const {
        return std::max(to + to_children, from + from_children);
    }
};

/// The trunks between groups during one walk.
class Trunks {
  public:
    /// `both_ways`: each segment also goes up the tree.
    void begin(const SegmentTimes& times, const SendOrder& order, bool both_ways) {
        if (!times.has_trunks()) return;
        copies_.assign(static_cast<std::size_t>(times.groups()) * static_cast<std::size_t>(times.groups()),
                       0);
        free_.assign(copies_.size(), 0);
        for (const Send& send : order) {
            copies_[place(times, send.from, send.to)] += 1;
            if (both_ways) copies_[place(times, send.to, send.from)] += 1;
        }
    }
    /// When a message that starts then has passed.
    double pass(const SegmentTimes& times, int from, int to, double start) {
        if (each(times, from, to) <= 0) return start;
        double& free = free_[place(times, from, to)];
        free = std::max(free, start) + each(times, from, to);
        return free;
    }
    double interval(const SegmentTimes& times, int from, int to) const {
        return copies_[place(times, from, to)] * each(times, from, to);
    }

  private:
    static double each(const SegmentTimes& times, int from, int to) {
        return times.trunk(times.group_of(from), times.group_of(to));
    }
    static std::size_t place(const SegmentTimes& times, int from, int to) {
        return static_cast<std::size_t>(times.group_of(from) * times.groups() + times.group_of(to));
    }
    std::vector<double> copies_;  // of each segment, by pair of groups
    std::vector<double> free_;    // when all that was sent has passed
};

/// Things by where they belong, each list in the old order. (counting sort)
class Sorted {
  public:
    template <typename PlaceOf>
    void sort(std::span<const std::size_t> things, std::size_t places, PlaceOf place_of) {
        first_.assign(places + 1, 0);
        for (const std::size_t thing : things) ++first_[place_of(thing) + 1];
        for (std::size_t place = 1; place < first_.size(); ++place) first_[place] += first_[place - 1];
        next_ = first_;
        things_.resize(things.size());
        for (const std::size_t thing : things) things_[next_[place_of(thing)]++] = thing;
    }
    std::span<const std::size_t> of(std::size_t place) const {
        return {things_.data() + first_[place], first_[place + 1] - first_[place]};
    }

  private:
    std::vector<std::size_t> first_;  // by place, into things_
    std::vector<std::size_t> next_;
    std::vector<std::size_t> things_;
};

/// What one walk needs, kept for the next one.
struct WalkScratch {
    std::vector<std::size_t> sends;       // messages to other clusters, into the order
    Sorted by_cluster;                    // these
    std::vector<const Members*> members;  // of each cluster
    std::vector<Arrival> arrival;         // at leaders
    std::vector<ForParent> parent;        // of these
    std::vector<int> from;                // TreePricer::find_senders()
    Trunks trunks;
    // Of the cluster that passes the message on:
    Sorted by_member;  // the messages of the cluster, into the order
    std::vector<Arrival> has;
    std::vector<double> sending;  // of each member, for a segment of one lane
    std::vector<double> receiving;
    std::vector<double> sums;  // of these
    ReductionScratch reduction;
};

class LaneLoads;

/// One walk through a tree, cluster by cluster, each after the one that it gets the message from. The
/// formulas stand at TreePricer::broadcast.
class Walk {
  public:
    /// `scratch` has what the tree's walks have in common. `back`: of segments that go up the tree at the
    /// same time, or nullptr.
    Walk(WalkScratch& scratch, const ClusterTree& tree, int root, std::uint64_t segments,
         const SegmentTimes& times, const SegmentTimes* back);

    const TreeTime& time() const { return time_; }

  private:
    /// What the uplink of a cluster does during the walk.
    struct Uplink {
        Interval interval;
        double free = 0;
    };
    /// What a member's children inside its cluster find.
    struct Sent {
        double started = 0;  ///< all messages to other clusters, which go first
        double shared = 0;   ///< what these take of the port beyond their starts
        Interval interval;
    };

    void enter(int cluster);
    void arrive(int cluster, double at_leader, const Interval& between_hosts);
    /// The leader has the most children in every shape, and all others are below it: one interval and
    /// one time hold for all of them.
    void pass_on_from_leader(int cluster, std::span<const std::size_t> out);
    /// Members come after those that they get the message from, in every shape.
    void pass_on_from_members(int cluster, std::span<const std::size_t> out);
    /// A member of `cluster` that has the message as `here` says sends `out`, and then as many inside.
    Sent send_out(int cluster, const Arrival& here, const ForParent& parent, std::span<const std::size_t> out,
                  std::size_t inside, Uplink& uplink);
    /// The first segment has left for `to`, whose message waits so long for its share of the port.
    double left_for(int cluster, int to, double started, double waits, Uplink& uplink);
    /// What holds up the segments that go to `to`.
    Interval interval_to(int cluster, int to, const Interval& so_far, const Uplink& uplink);

    Uplink uplink_of(int cluster, std::size_t out) const;
    Interval of_port(int cluster, double busy) const;
    /// The first segment has had its part of the credit.
    Interval interval_of(double seconds, double credit, const Binding& binding) const;
    /// A NIC with one segment.
    void keep_busy(int cluster, double busy);
    /// What is added to the only message of a flow that was idle.
    double ramp_of_only(int cluster, int to) const;

    /// What comes up from a child, where anything does.
    double port_back(int from, int to) const { return back_ == nullptr ? 0 : back_->port(from, to); }
    /// What a member of `to` does for its parent in `from`.
    ForParent for_parent(int from, int to) const;

    LaneLoads lanes() const;

    WalkScratch& scratch_;
    const ClusterTree& tree_;
    int root_;
    const SegmentTimes& times_;
    const SegmentTimes* back_;
    double lane_busy_ = 0;  // LaneLoads::busiest() of the cluster that is being looked at
    double more_;
    Interval longest_;  // of all
    TreeTime time_;
};

}  // namespace laple
