// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple {

/// When each rank of an algorithm that goes in rounds of messages is ready, as rounds go by. Each is there
/// when its partner is. Ranks of a host share its port, and reach each other through its memory; what goes
/// between clusters shares their uplinks and the link of both. Other messages do not disturb each other, and
/// nothing is lost: an optimistic figure.
class Rounds {
  public:
    enum class Members { ranks, leaders };
    /// The first member is `root`, or the leader of its host; the other ranks, or leaders, follow it, all
    /// around. The references must outlive this.
    Rounds(Rank root, const Machine& machine, const MachineCosts& costs, Members members = Members::ranks);

    std::size_t members() const { return ready_.size(); }
    /// The largest power of two that is less than the number of members.
    std::size_t half() const;

    /// Messages of one size from now on.
    void begin(Bytes bytes, bool combines);
    void send(std::size_t from, std::size_t to);
    void end() { ready_ = next_; }

    /// When the last member is ready, and when the first one is; neither before the busiest NIC.
    double last() const;
    double at_root() const;

    /// The same message down a binomial tree, and up.
    void binomial_down(Bytes bytes);
    void binomial_up(Bytes bytes, bool combines);
    /// Down a binomial tree go the blocks of all who are below; and up.
    void blocks_down(Bytes block);
    void blocks_up(Bytes block);
    /// Partners `distance` apart swap; who has none does not.
    void swap_all(std::size_t distance, Bytes bytes, bool combines);
    /// Allreduce by recursive doubling, between fold() and unfold().
    void swap_folded(Bytes bytes);
    /// Where the members are no power of two, some give what they have to their right neighbours before the
    /// others begin; and get theirs in the end.
    void fold(Bytes bytes);
    void unfold(Bytes bytes);
    /// Between the two, reduce-scatter by recursive halving of `bytes`: the largest part goes the farthest,
    /// or to the neighbour.
    void halving(Bytes bytes);
    void halving_near_first(Bytes bytes);
    /// After the latter, of `bytes` each: allgather, and gather at the root.
    void doubling_far_first(Bytes bytes);
    void gathering_far_first(Bytes bytes);
    /// Allgather by recursive doubling, from `bytes` each; of a power of two members.
    void doubling(Bytes bytes);
    /// Allgather: in round r everybody sends what it has, at most what is missing yet, to the member 2^r to
    /// the left (Bruck et al.).
    void allgather_by_index(Bytes bytes);
    /// Everybody passes blocks of `bytes` to the right until all have had all.
    void ring(Bytes bytes, bool combines);
    /// In round r everybody sends half of its blocks of `bytes` to the member 2^r to the right (Bruck et
    /// al.).
    void index(Bytes bytes);
    /// In round i everybody sends a block of `bytes` to the member i to the right, and waits for one.
    void pairwise(Bytes bytes, bool combines);
    /// Everybody sends blocks of `bytes` to all others, as fast as ports allow, `together` of them at a time.
    void all_to_all(Bytes bytes, std::size_t together);
    /// Each but the last sends a message to the member to the right.
    void shift(Bytes bytes);
    /// The most bytes that wait at an uplink then, if its queue holds them.
    double most_waiting(Bytes bytes);
    /// Of each host, the ranks tell the first one; in round r that of a host sends an empty message to the
    /// one 2^r hosts to the right; then it tells the others.
    void barrier();
    /// How many rounds between hosts that has.
    int rounds_of_barrier() const;

  private:
    /// Those who go on after fold(): the largest power of two.
    std::size_t folded_members() const { return std::bit_floor(members()); }
    std::size_t folded(std::size_t i) const;
    void swap_folded(std::size_t distance, Bytes bytes, bool combines);
    /// As begin(), but in the round that is going on.
    void go_on_with(Bytes bytes);
    /// How many members are below `i + distance` in a binomial tree, itself included.
    std::size_t below(std::size_t i, std::size_t distance) const {
        return std::min(distance, members() - i - distance);
    }
    double nearest_cluster(int c) const;
    /// Of each host, the first member.
    std::vector<std::size_t> leaders() const;
    /// Each member is not ready before its host's ranks could have told each other that all are there.
    void tell_on_host();
    struct Leaving {
        double bytes = 0;
        double ports = 0;  // bytes a second of the NICs by which they leave their hosts
    };
    std::vector<double> members_of_clusters() const;
    std::vector<Leaving> all_that_leaves() const;
    /// The same of those from one cluster to another.
    std::vector<Leaving> all_between() const;
    std::vector<double> longest_ways(std::size_t together) const;
    double busiest_uplink() const;
    double busiest_link() const;
    /// What the busiest NIC takes, call after call.
    double busiest() const;
    /// What the NIC of a host that has rested saves at each message, while it has some of its reserve left.
    double rested(std::size_t from, double gap);
    int cluster(std::size_t i) const { return cluster_of_[i]; }
    bool is_local(std::size_t a, std::size_t b) const { return host_of_[a] == host_of_[b]; }
    const MachineCosts::Link& link(std::size_t from, std::size_t to) const {
        return is_local(from, to) ? costs_.cluster(cluster(from)).memory
                                  : costs_.link(cluster(from), cluster(to));
    }
    double latency_of(std::size_t from, std::size_t to) const;
    /// What goes before a long message: the sender asks, and the receiver answers.
    double handshake(std::size_t from, std::size_t to) const;
    /// The same between two hosts, of these clusters.
    double handshake_between(int a, int b) const;
    /// Each message of a size has a flow of its own.
    double ramp(std::size_t from, std::size_t to, double gap) const;
    double gap_of(std::size_t from, std::size_t to);
    /// The same between two hosts of these clusters, and inside a host of one.
    double gap_between(int a, int b);
    double gap_inside(int c);
    double gap_by(const MachineCosts::Link& link, int to, double& known) const;
    /// What a message takes from the NIC of the host that gets it.
    void receive(std::size_t from, std::size_t to);
    /// When a message that leaves its port at `left` has passed the uplinks and the link on its way.
    double past_links(std::size_t from, std::size_t to, double left);

    /// Of a cluster, for what goes out or comes in.
    struct Uplink {
        double rate = 0;  // bytes a second; 0: nothing is known
        double free = 0;  // when the last message has passed
        double time_of(double bytes) const { return rate > 0 ? bytes / rate : 0; }
    };
    std::vector<Uplink> uplinks(double (MachineCosts::*rate)(int c, int hosts) const,
                                const Machine& machine) const;

    std::vector<int> cluster_of_;
    std::vector<std::size_t> host_of_;
    const MachineCosts& costs_;
    std::vector<double> ready_;
    std::vector<double> next_;
    std::vector<double> credit_;  // by host, as the next ones: what is left of it
    std::vector<double> usual_credit_;
    std::vector<double> busy_;      // with all that it sends
    std::vector<double> receives_;  // what all that it gets takes
    std::vector<double> port_free_;
    std::vector<Uplink> out_;      // by cluster
    std::vector<Uplink> in_;       // by cluster
    std::vector<Uplink> between_;  // from cluster to cluster
    std::vector<double> known_;    // by pair of clusters, inside hosts last; below 0: not looked up
    Bytes bytes_ = 0;
    bool combines_ = false;
};

}  // namespace laple
