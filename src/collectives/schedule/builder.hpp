// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectives/schedule/access_map.hpp"
#include "collectives/schedule/schedule.hpp"

namespace laple {

/// How much may be under way, in messages of one channel between two ranks; 1 at least.
struct Windows {
    std::uint32_t between_clusters = 4;
    /// To ranks of the same innermost group: their links have little in flight, and where messages share a
    /// link instead of queueing (MPI over several connections, SimGrid) the first of many segments would
    /// arrive with the last.
    std::uint32_t in_cluster = 4;
    std::vector<Rank> cluster_ranks = {};
};

/// Builds a schedule in program order and finds the dependencies itself.
///
/// The caller writes a straight program for one rank; two steps depend on each other when they use units in
/// common and one of them writes them (read after write, write after read, write after write). In addition no
/// more sends to, and receives from, one peer in one channel are under way than the window allows: requests
/// to poll and memory stay bounded.
class ScheduleBuilder {
  public:
    ScheduleBuilder(const BufferSizes& sizes, Windows windows);

    /// From now on sends inside the cluster also wait for the earlier step `in_cluster`, and all sends for
    /// `all`; -1: for nothing. A send is complete long before its message has left, so no window limits what
    /// is in a NIC's queue.
    void hold_sends(std::int64_t in_cluster, std::int64_t all);
    /// From now on sends to other clusters follow each other at a rate of one unit in so many seconds, but
    /// for what may be `ahead` of it.
    void pace_sends(double seconds_per_unit, Seconds ahead) {
        schedule_.seconds_per_unit = seconds_per_unit;
        schedule_.ahead = ahead;
    }
    /// Whether they do.
    bool paces_sends() const { return schedule_.seconds_per_unit > 0; }
    /// The last step so far in program order; -1: none.
    std::int64_t last_step() const { return static_cast<std::int64_t>(schedule_.steps.size()) - 1; }
    /// The last receive from a rank of the own cluster so far in program order; -1: none.
    std::int64_t last_receive_in_cluster() const { return last_receive_in_cluster_; }
    /// The last step that writes that unit so far in program order; -1: none.
    std::int64_t writer_of(Place place);

    /// A temporary buffer of so many units, one at least; returns its number.
    Buffer add_temporary(std::uint64_t units);
    /// Messages that may be under way from a peer.
    std::uint32_t window() const { return windows_.between_clusters; }

    void send(Rank peer, Region from, Channel channel = 0);
    void recv(Rank peer, Region to, Channel channel = 0);
    void copy(Region from, Place to) { local(StepKind::copy, from, to); }
    void reduce(Region from, Place to) { local(StepKind::reduce, from, to); }
    /// Native calls block inside MPI: they wait for all steps before them and hold back all after them.
    void native(StepKind kind, Rank root, Region from, Place to);

    Schedule finish() && { return std::move(schedule_); }

  private:
    struct Traffic {
        std::vector<std::uint32_t> under_way;  // ring of the last steps, as many as its window
        std::uint64_t count = 0;
    };

    std::uint32_t begin(StepKind kind, Rank peer, std::uint64_t units, Place from, Place to);
    void local(StepKind kind, Region from, Place to);
    void reads(std::uint32_t step, Region region);
    void writes(std::uint32_t step, Region region);
    void depends_on(std::uint32_t step, std::int64_t earlier);
    void enter_channel(std::uint32_t step, Channel channel, Traffic& traffic, std::uint32_t window);
    bool is_in_cluster(Rank peer) const;
    static std::uint64_t key(Rank peer, Channel channel) {
        return (static_cast<std::uint64_t>(channel) << 32) | static_cast<std::uint32_t>(peer);
    }
    void end(std::uint32_t step);
    /// Where a buffer's unit 0 is in its memory.
    std::uint64_t shift(Buffer buffer) const { return buffer == kInput ? input_in_result_ : 0; }
    AccessMap& memory(Buffer buffer);

    Schedule schedule_;
    Windows windows_;
    std::uint64_t input_in_result_;
    std::vector<AccessMap> memories_;                   // the user's, then the temporary ones
    std::unordered_map<std::uint64_t, Traffic> sends_;  // by peer and channel
    std::unordered_map<std::uint64_t, Traffic> recvs_;
    std::int64_t hold_in_cluster_ = -1;
    std::int64_t hold_all_ = -1;
    std::int64_t last_receive_in_cluster_ = -1;
    std::int64_t fence_ = -1;
};

}  // namespace laple
