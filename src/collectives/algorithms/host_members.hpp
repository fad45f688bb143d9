// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/tree_steps.hpp"

namespace laple {

/// How members are numbered.
enum class MemberOrder {
    /// In the order of groups, clusters and hosts: neighbours are near each other.
    near,
    /// The same with the bits of the numbers reversed: neighbours by number are far from each other, and
    /// those
    /// that are half the members apart are near. A power of two of them.
    ///
    ///     near            0 1 2 3 4 5 6 7
    ///     bit_reversed    0 4 2 6 1 5 3 7
    bit_reversed,
};

struct MemberLayout {
    MemberOrder order = MemberOrder::near;
    /// All ranks of a host take part, each with a slice of the message, among those of the other hosts that
    /// have the same slice. Every host has as many ranks.
    ///
    ///     ranks of host 0    0 1 2 3        ranks 0 and 4 have the first quarter, 1 and 5 the second ...
    ///     ranks of host 1    4 5 6 7
    bool by_slices = false;
    /// What is gathered stays in a temporary buffer, in the order of the members.
    bool is_apart = false;
};

/// The hosts of a machine as members of an algorithm that knows no clusters, in the order of the layout. Each
/// is represented by its leader: in a rooted collective the root's host comes first, and the root leads it;
/// by slices each rank leads its own.
///
/// Member i owns part i of the message where it is cut into as many parts as there are members; where it has
/// fewer units the last ones own nothing. Of a message that is gathered, part i are the blocks of the host's
/// ranks.
class HostMembers {
  public:
    HostMembers(const Request& request, const Machine& machine, Rank rank, MemberLayout layout = {});

    int count() const { return static_cast<int>(leaders_.size()); }
    /// The number of this rank's host.
    int self() const { return self_; }
    bool is_leader() const { return leaders_[static_cast<std::size_t>(self_)] == rank_; }
    Rank leader(int member) const { return leaders_[static_cast<std::size_t>(member)]; }
    /// The leader `distance` to the right, all around.
    int beside(int distance) const { return ((self_ + distance) % count() + count()) % count(); }
    /// This rank's neighbours on its host.
    const RankLinks& on_host() const { return on_host_; }

    /// The units of parts `first` ... `end` - 1.
    Segment parts(const Request& request, int first, int end) const;

    // By slices:
    bool are_slices() const { return layout_.by_slices; }
    /// The ranks of this host; the first of them has slice 0.
    std::span<const Rank> ranks_here() const { return ranks_here_; }
    /// The number of this rank's slice.
    std::size_t own_slice() const { return own_slice_; }
    Segment slice(const Request& request, std::size_t number) const;

    /// The blocks of a message that is gathered are passed on in the order of members: those of one host
    /// after those of another. Where each is in that order, and where in the result.
    struct Block {
        Rank rank;
        std::uint64_t begin;      ///< in the order of members
        std::uint64_t in_result;  ///< in the order of ranks
    };
    /// One more than there are ranks: the end. Empty where nothing is gathered.
    const std::vector<Block>& blocks() const { return blocks_; }
    std::span<const Block> blocks_of(int member) const;
    /// Which of them holds that unit.
    std::size_t block_at(std::uint64_t unit) const;

  private:
    Rank rank_;
    MemberLayout layout_;
    std::vector<Rank> leaders_;
    std::vector<Block> blocks_;
    std::vector<std::size_t> first_block_;  // of each member; one more than there are members
    int self_ = 0;
    RankLinks on_host_;
    std::span<const Rank> ranks_here_;
    std::size_t own_slice_ = 0;
};

/// The steps of algorithms over members. Parts of at most `segment_bytes` are sent as one message; 0: all
/// are. The message of each member is in kResult; but one that is gathered, where the ranks are not numbered
/// in the order of the members, is in a temporary buffer until its blocks are put in order. Where that would
/// be larger than LAPLE_BLOCK_MEMORY, its parts go from result to result, those that do not follow each other
/// there as a message each.
class MemberSteps {
  public:
    MemberSteps(const Part& part, ScheduleBuilder& builder, MemberLayout layout = {},
                Bytes segment_bytes = 0);

    const HostMembers& members() const { return members_; }
    /// Where the message of each member is.
    Buffer message() const { return message_; }

    /// The ranks of each host combine their contributions at its leader, into kResult; by slices, each slice
    /// at the rank that has it.
    void combine_on_hosts();
    /// The leader of each host gets the blocks of its ranks.
    void gather_on_hosts();
    /// The leader of each host sends the result to all its ranks; by slices, each rank its own.
    void spread_on_hosts();
    /// By slices, the root gets them from the other ranks of its host; else it has the result already.
    void collect_at_root();
    /// The same with a part of it, as soon as the leader has that; what was gathered is put in order. All
    /// ranks of a host have to say this of the same parts in the same order.
    void spread_on_host(Segment part);
    void spread_gathered() { spread_on_host(parts(0, members_.count())); }

    // The leaders' steps; nothing on other ranks.

    /// Binomial: each member gets the parts of all below it in one message; and the way back.
    void scatter();
    void gather();
    /// Parts go around, each to the next member, until all have all, and are spread on hosts on the way.
    void ring_allgather();
    /// Members 1, 2, 4 ... apart swap all that they have. A power of two of them.
    void doubling_allgather();
    /// The members 1, 2, 4 ... to the left get all that a member has, at most what they lack.
    void bruck_allgather();
    /// Each sends its contribution to every part straight to the owner, who sums them up.
    void pairwise_reduce_scatter();
    /// Each sends its part to all others.
    void pairwise_allgather();
    /// Sums go around, each growing at every member, and end with their owner.
    void ring_reduce_scatter();
    /// Members ... 4, 2, 1 apart swap the half that the other one goes on with. A power of two of them.
    void halving_reduce_scatter();
    /// In round r everybody tells the member 2^r to the right that all it knows of have arrived. Of a message
    /// without data.
    void disseminate();

    /// Parts `first` ... `end` - 1.
    Segment parts(int first, int end) const { return members_.parts(part_.request, first, end); }
    /// That part of the message to another member, or from it; in halving and doubling, in segments.
    void send(int member, Segment part);
    void recv(int member, Segment part);

  private:
    /// So many parts from `first` on, all around: one segment, or two.
    template <typename Use>
    void for_each_around(int first, int number, Use use) const;
    void combine_slices();
    void spread_slices();
    void put_in_order(Segment part);
    template <typename Use>
    void for_each_in_result(Segment part, Use use) const;
    template <typename Use>
    void for_each_region(Segment part, Use use) const;

    /// What is sent or received as one message of such a part.
    Segments pieces(Segment part) const {
        return Segments::cut(part.units, part_.request.unit_bytes, segment_bytes_);
    }

    const Part& part_;
    ScheduleBuilder& builder_;
    HostMembers members_;
    Bytes segment_bytes_;
    bool is_apart_;
    bool is_in_result_ = false;  // in another order than that of the members
    Buffer message_ = kResult;
};

/// The clusters of all hosts, in the order of members; for prices (network_clock.hpp).
std::vector<int> clusters_of_members(const Request& request, const Machine& machine,
                                     MemberOrder order = MemberOrder::near);

/// Members that follow each other: first ... end - 1.
struct MemberRange {
    int first = 0;
    int end = 0;
    int count() const { return end - first; }
    bool holds(int member) const { return first <= member && member < end; }
};

/// The members of each cluster, in the order of members. `cluster_of` as clusters_of_members() says.
std::vector<MemberRange> member_ranges(const std::vector<int>& cluster_of);

/// The hosts in the order of members, that of `root` first where the collective has one.
std::vector<Host> hosts_in_order(const Request& request, const Machine& machine, MemberOrder order);

/// Bytes of what these ranks contribute to a message that is gathered.
Bytes bytes_of_blocks(const Request& request, std::span<const Rank> ranks);
/// Bytes of the result.
Bytes bytes_of_result(const Request& request, const Machine& machine);

/// Members below each member of a tree, itself included: they follow it.
std::vector<int> sizes_below(const ShapeLinks& links);

bool is_power_of_two(int count);

}  // namespace laple
