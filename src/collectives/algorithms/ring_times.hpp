// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/algorithms/member_times.hpp"

namespace laple {

/// How long blocks take to go around some members, each of whom passes to its right neighbour what has come
/// from the left one. In each round a member sends, one after the other, the blocks that it got in the round
/// before:
///
///     starts    when it has the block, and its connection is free
///     free      starts + the longest of what serves the connection's messages one after the other
///     there     starts + what the message takes alone
///
/// Where that would be many messages, only the first rounds are computed; each of the others takes the
/// average of the second half of these.
class RingTimes {
  public:
    /// As MemberTimes::pass_around(). The references must outlive this.
    RingTimes(MemberTimes& times, MemberRange range, const RingBlocks& blocks, bool combines);

    /// Sets when the members have all, and their ports are free.
    void pass_all();

  private:
    /// What a block of one size takes from a member to the next one, in seconds.
    struct Link {
        double interval;
        double until_there;
        double may_save;  ///< of a rested port
        double combining;
    };

    void find_sizes();
    void find_links();
    void begin();
    void pass(std::size_t round);
    void end(std::size_t rounds);
    int member(std::size_t place) const { return range_.first + static_cast<int>(place % places_); }

    MemberTimes& times_;
    MemberRange range_;
    const RingBlocks& blocks_;
    bool combines_;
    std::size_t places_;
    std::size_t most_ = 0;                           // blocks of a member
    std::vector<Bytes> sizes_;                       // of blocks, each once
    std::vector<std::vector<std::size_t>> size_of_;  // of each member's blocks, into sizes_
    std::vector<Link> links_;                        // of each kind, by size
    std::vector<std::size_t> link_of_;               // of each member to the next, into links_
    std::vector<HostTime> hosts_;                    // the same of the next one's host
    std::vector<std::size_t> host_of_;
    std::vector<double> free_;      // by place, as all of these
    std::vector<double> combined_;  // its processor is free
    std::vector<double> credit_;
    std::vector<double> there_;  // by place and block
    std::vector<double> next_there_;
    std::vector<double> half_way_;  // free_, after half of the rounds
};

}  // namespace laple
