// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/cost/network_clock.hpp"

namespace laple {

/// A block that goes around a ring: the part that `member` contributes. Somebody in the ring has it from
/// `ready` on.
struct RingBlock {
    int member;
    double ready;
};
/// By ring member, the blocks that it has in the beginning, in the order in which it sends them.
using RingBlocks = std::vector<std::vector<RingBlock>>;

/// The times of what MemberSteps writes: an algorithm over members that calls the same functions of both has
/// its steps and its price from one function template. Each member goes on when it has what it waits for and
/// its port is free. Spreading on a host takes the time of its memory, and overlaps with receiving.
class MemberTimes {
  public:
    explicit MemberTimes(Pricing& pricing, MemberLayout layout = {}, Bytes segment_bytes = 0);

    // As in MemberSteps.
    void combine_on_hosts();
    void gather_on_hosts();
    void spread_on_hosts();
    void spread_gathered();
    void collect_at_root();
    void scatter();
    void gather();
    void ring_allgather();
    void doubling_allgather();
    void bruck_allgather();
    void ring_reduce_scatter();
    void pairwise_reduce_scatter();
    void pairwise_allgather();
    void halving_reduce_scatter();
    void disseminate();

    /// Allreduce by recursive doubling: neighbours among those beyond a power of two fold before, and unfold
    /// after.
    void doubling_allreduce();

    /// Blocks go around the members of `range` (ring_times.hpp). Each member combines them with what it has
    /// where `combines`, else spreads them on its host.
    void pass_around(MemberRange range, const RingBlocks& blocks, bool combines);

    /// A block comes to a member, at `ready`, and is spread on its host, which takes `time`.
    void spread(int member, const HostTime& time, double ready) {
        const auto m = static_cast<std::size_t>(member);
        if (ranks_[m] == 1) return;
        memory_[m] = std::max(memory_[m], ready);
        spread_[m] = std::max(spread_[m], memory_[m] + time.first);
        memory_[m] += time.interval;
    }

    /// Until the last member has all; in a reduction to a root, until member 0, the root's host, has it.
    double seconds() const;
    /// Of what all members have, which comes in such segments: `first` of one segment, `interval` of all of
    /// them on the busiest host.
    HostTime spread_in_segments(Bytes segment_bytes);

    /// What the ranks of a member's host take for a message of so many bytes.
    HostTime on_host(int member, Bytes bytes, HostWays ways);
    int ranks_on_host(int member) const { return ranks_[static_cast<std::size_t>(member)]; }
    /// Of messages that are combined: the time of a member's processor.
    double combining(int member, Bytes bytes) const;

    /// Of the messages so far.
    Bytes largest_message() const { return largest_; }

    int count() const { return static_cast<int>(ready_.size()); }
    NetworkClock& clock() { return clock_; }
    /// When a member has what the steps so far bring to it.
    double& ready(int member) { return ready_[static_cast<std::size_t>(member)]; }
    /// Of parts `first` ... `end` - 1, of one slice.
    Bytes bytes(int first, int end) const {
        return begins_[static_cast<std::size_t>(end)] - begins_[static_cast<std::size_t>(first)];
    }

  private:
    /// Adds a message to those that are sent, or one of each slice; and all of these come to where they go.
    void send(int from, int to, Bytes bytes);
    void deliver();
    /// The same, where each member has a message from each other one.
    void deliver_from_all();
    /// Who has taken part in a message has combined it.
    void combine_whole(std::span<const int> members);
    /// Partners `distance` apart swap: each has as many parts, from a multiple of that on, and sends them
    /// all, or where they halve, those that its partner goes on with.
    void swap(int distance, bool halves);

    /// What is sent as one message of so many bytes.
    Bytes piece_of(Bytes bytes) const { return segment_bytes_ > 0 ? std::min(bytes, segment_bytes_) : bytes; }
    /// Until a rank of that host has a slice from each of the others, and has combined them where `combines`.
    double time_of_slices(int member, bool combines) const;

    Pricing& pricing_;
    std::size_t slices_;  // that are not empty; 0: the message is not cut into slices
    Bytes segment_bytes_;
    NetworkClock clock_;
    std::vector<int> ranks_;      // on each member's host
    std::vector<Bytes> begins_;   // of each part
    std::vector<double> ready_;   // by member, as all of these
    std::vector<double> memory_;  // of its leader: free again
    std::vector<double> spread_;  // all ranks of its host have what was spread
    std::vector<NetworkClock::Message> sent_;
    Bytes largest_ = 0;
};

}  // namespace laple
