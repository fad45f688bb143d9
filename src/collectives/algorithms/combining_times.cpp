// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/combining_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/index.hpp"
#include "collectives/algorithms/block_times.hpp"
#include "collectives/algorithms/hop_load.hpp"

namespace laple {
namespace {

double block_of(Rank rank, const Request& request) {
    return static_cast<double>(request.block_units(rank) * request.unit_bytes);
}

/// Blocks are as long as they are on the average: long ones and short ones pass every host.
double usual_block(const Request& request, const Machine& machine) {
    return static_cast<double>(request.block_begin(machine.rank_count()) * request.unit_bytes) /
           machine.rank_count();
}

/// Of the blocks for the ranks of each cluster, the mean.
std::vector<double> usual_blocks(const Request& request, const Machine& machine) {
    std::vector<double> blocks;
    for (int c = 0; c < machine.cluster_count(); ++c) {
        double all = 0;
        for (const Rank rank : machine.ranks_in(c)) all += block_of(rank, request);
        blocks.push_back(all / static_cast<double>(machine.ranks_in(c).size()));
    }
    return blocks;
}

/// Who sends what to whom where hosts combine first, cluster by cluster.
class CombiningTraffic {
  public:
    CombiningTraffic(Pricing& pricing, Aggregation aggregation, const BlockTrees& trees, Bytes segment_bytes)
        : request_(pricing.request()),
          machine_(pricing.machine()),
          costs_(pricing.costs()),
          is_by_cluster_(aggregation == Aggregation::by_cluster),
          segment_bytes_(segment_bytes),
          block_(usual_block(request_, machine_)),
          blocks_(usual_blocks(request_, machine_)),
          trees_(trees) {
        for (int c = 0; c < costs_.count(); ++c) {
            ranks_.push_back(static_cast<double>(machine_.ranks_in(c).size()));
            hosts_.push_back(static_cast<double>(machine_.hosts_in(c).size()));
            fullest_.push_back(machine_.most_ranks_on_a_host(c));
        }
    }

    TreeTime time() const {
        const auto ports = is_by_cluster_ ? HopLoad::Ports::busy : HopLoad::Ports::rested;
        HopLoad between(machine_, costs_, segment_bytes_, ports);
        add_to_hosts(between);
        TreeTime time;
        time.first = between.latency();
        time.last = between.seconds();
        time.sustained = between.busiest_port();
        if (is_by_cluster_) {
            HopLoad inside(machine_, costs_, segment_bytes_);
            add_to_carriers(inside);
            time.first += inside.latency();
            time.sustained += inside.busiest_port();
            time.last = segment_bytes_ > 0 ? overlapping() : between.seconds() + inside.seconds() - saved();
        }
        // Of segments, that of the next ones is done meanwhile.
        const double in_memory = on_hosts();
        time.last = segment_bytes_ > 0 ? std::max(time.last, in_memory) + in_memory * part_of_segment()
                                       : time.last + in_memory;
        return time;
    }

    /// Of what a rank of each cluster sends to other clusters.
    std::vector<double> pace() const {
        HopLoad far(machine_, costs_, segment_bytes_);
        for (int a = 0; a < costs_.count(); ++a) add_from(far, a);
        std::vector<double> pace;
        for (int c = 0; c < costs_.count(); ++c)
            pace.push_back(far.busiest() / std::max(most_bytes_sent(c), 1.0));
        return pace;
    }

  private:
    /// Of the rank of a cluster that sends most to other clusters.
    double most_bytes_sent(int cluster) const {
        std::vector<double> bytes(at(machine_.rank_count()), 0);
        for (Rank dest = 0; dest < machine_.rank_count(); ++dest) {
            if (machine_.cluster_of_rank(dest) != cluster)
                bytes[at(trees_.sender(cluster, dest))] += block_of(dest, request_);
        }
        return *std::max_element(bytes.begin(), bytes.end());
    }

    /// To how many hosts of each other cluster the host of a cluster sends that sends to most hosts.
    std::vector<double> most_hosts_sent_to(int cluster) const {
        std::vector<std::vector<double>> sent(at(machine_.host_count()));
        std::vector<double> all(sent.size(), 0);
        for (Host dest = 0; dest < machine_.host_count(); ++dest) {
            const int there = machine_.cluster_of(dest);
            if (there == cluster) continue;
            const auto host = at(machine_.host_of(trees_.sender(cluster, machine_.ranks_on(dest).front())));
            sent[host].resize(at(costs_.count()), 0);
            sent[host][at(there)] += 1;
            all[host] += 1;
        }
        return sent[at(static_cast<int>(std::max_element(all.begin(), all.end()) - all.begin()))];
    }

    HopLoad all(HopLoad::Ports ports) const {
        HopLoad load(machine_, costs_, segment_bytes_, ports);
        add_to_carriers(load);
        add_to_hosts(load);
        return load;
    }
    /// By ports that have rested.
    double saved() const {
        return all(HopLoad::Ports::busy).busiest_port() - all(HopLoad::Ports::rested).busiest_port();
    }
    /// Of hops one segment apart.
    double overlapping() const {
        const HopLoad load = all(HopLoad::Ports::rested);
        const double last = load.busiest() + load.latency();
        return (trees_.is_ring() ? std::max(last, around_clusters()) : last) +
               time_around(machine_, costs_, std::min(block_, static_cast<double>(segment_bytes_)));
    }

    /// A cluster at one end of what goes to the next one in a ring.
    struct End {
        double hosts;
        double inside;  // what its ports serve meanwhile for each block, as it is combined there
    };
    End end_at(int c) const {
        HopLoad inside(machine_, costs_, segment_bytes_);
        add_to_carriers(inside, c);
        add_inside(inside, c);
        return {hosts_[at(c)], inside.busiest_port() / (machine_.rank_count() - ranks_[at(c)])};
    }
    /// What a cluster of a ring sends to the next one.
    struct Way {
        double one;   // block
        double each;  // of all its blocks for other clusters
        double latency;
        std::array<End, 2> ends;
    };
    Way way_from(int c) const {
        HopLoad one(machine_, costs_, segment_bytes_);
        HopLoad all(machine_, costs_, segment_bytes_);
        one.add(c, next_to(c), block_, 1, 1, 1);
        add_to_next(all, c);
        return {one.busiest(),
                all.busiest() / (machine_.rank_count() - ranks_[at(c)]),
                one.latency(),
                {end_at(c), end_at(next_to(c))}};
    }
    int next_to(int c) const { return trees_.left_of(c).back(); }  // all around to the left

    /// The blocks of one cluster: when another one can send the first segment of them, and the last one.
    struct Train {
        double first = 0;
        double last = 0;
    };
    /// Until each cluster has what comes around to it.
    double around_clusters() const {
        std::vector<Way> ways;
        std::vector<std::vector<int>> left;
        for (int c = 0; c < costs_.count(); ++c) {
            ways.push_back(way_from(c));
            left.push_back(trees_.left_of(c));
        }
        std::vector<double> free(ways.size(), 0);
        std::vector<Train> trains(ways.size());  // by cluster: what it sends in this round
        double last = 0;
        for (std::size_t round = 0; round + 1 < ways.size(); ++round) {
            std::vector<Train> next(ways.size());
            for (std::size_t c = 0; c < ways.size(); ++c) {
                const double blocks = ranks_[at(left[c][round])];
                next[at(left[c].back())] = passed(ways[c], blocks, trains[c], free[c]);
                last = std::max(last, free[c] + ways[c].latency);
            }
            trains = std::move(next);
        }
        return last;
    }
    /// `free`: the cluster's uplink is.
    Train passed(const Way& way, double blocks, const Train& train, double& free) const {
        double all = way.each * blocks;
        // A host has none of few blocks, or one more than others.
        for (const End& end : way.ends)
            all = std::max(all, way.one * std::ceil(blocks / end.hosts) + end.inside * blocks);
        const double segment = all * std::min(1.0, static_cast<double>(segment_bytes_) / (block_ * blocks));
        const double begin = std::max(free, train.first);
        free = std::max(begin + all, train.last + segment);
        return {begin + segment + way.latency, free + way.latency};
    }
    double part_of_segment() const { return std::min(static_cast<double>(segment_bytes_) / block_, 1.0); }

    /// Every host sends its part of what another one carries to that one.
    void add_to_carriers(HopLoad& load) const {
        for (int c = 0; c < costs_.count(); ++c) add_to_carriers(load, c);
    }
    void add_to_carriers(HopLoad& load, int c) const {
        const double others = hosts_[at(c)] - 1;
        const double elsewhere = block_ * machine_.rank_count() - blocks_[at(c)] * ranks_[at(c)];
        if (others <= 0 || elsewhere <= 0) return;
        load.add(c, c, elsewhere / hosts_[at(c)], others, others, others * hosts_[at(c)]);
    }

    /// To each host: from the other hosts of its cluster, from one of each other cluster, or from all.
    void add_to_hosts(HopLoad& load) const {
        for (int a = 0; a < costs_.count(); ++a) {
            add_inside(load, a);
            add_from(load, a);
        }
    }
    void add_inside(HopLoad& load, int a) const {
        // In messages for the fullest host: other hosts get less.
        const double others = hosts_[at(a)] - 1;
        const double all = ranks_[at(a)] / fullest_[at(a)];
        load.add(a, a, blocks_[at(a)] * fullest_[at(a)], std::min(others, all), others, all * others);
    }
    void add_from(HopLoad& load, int a) const {
        if (costs_.count() == 1) return;
        if (trees_.is_ring()) return add_to_next(load, a);
        const std::vector<double> sent = is_by_cluster_ ? most_hosts_sent_to(a) : hosts_;
        for (int b = 0; b < costs_.count(); ++b) {
            if (b == a) continue;
            const double bytes = blocks_[at(b)] * fullest_[at(b)];
            const double senders = is_by_cluster_ ? 1 : hosts_[at(a)];
            load.add(a, b, bytes, sent[at(b)], senders, ranks_[at(b)] / fullest_[at(b)] * senders);
        }
    }

    /// In a ring: all that is not for the cluster itself, to the next one.
    void add_to_next(HopLoad& load, int a) const {
        std::vector<double> sent(at(machine_.host_count()), 0);
        std::vector<double> got(sent);
        for (Rank dest = 0; dest < machine_.rank_count(); ++dest) {
            if (machine_.cluster_of_rank(dest) == a) continue;
            sent[at(machine_.host_of(trees_.sender(a, dest)))] += 1;
            got[at(machine_.host_of(trees_.receiver(a, dest)))] += 1;
        }
        const double blocks = machine_.rank_count() - ranks_[at(a)];
        const double mean = (block_ * machine_.rank_count() - blocks_[at(a)] * ranks_[at(a)]) / blocks;
        load.add(a, next_to(a), mean, *std::max_element(sent.begin(), sent.end()),
                 *std::max_element(got.begin(), got.end()), blocks);
    }

    /// Each rank copies to the others of its host what they pass on, or get, and combines as much; and an
    /// agent combines what comes to it.
    double on_hosts() const {
        double longest = 0;
        const double all = block_ * machine_.rank_count();
        for (int c = 0; c < costs_.count(); ++c) {
            const MachineCosts::Cluster& costs = costs_.cluster(c);
            const double others = fullest_[at(c)] - 1;
            // Short blocks of another host go by one rank.
            const double agents = segment_bytes_ > 0
                                      ? fullest_[at(c)]
                                      : std::clamp(machine_.host_count() - 1.0, 1.0, fullest_[at(c)]);
            const double share = all / agents;
            const double comes = share * (is_by_cluster_ ? 1 : 0) + blocks_[at(c)] * (hosts_[at(c)] - 1);
            double seconds = costs.reduction * (others * share + comes);
            if (others > 0)
                seconds += 2 * costs.memory.latency +
                           others * costs.memory.gap.at(static_cast<Bytes>(share)).count();
            longest = std::max(longest, seconds);
        }
        return longest;
    }

    const Request& request_;
    const Machine& machine_;
    const MachineCosts& costs_;
    bool is_by_cluster_;
    Bytes segment_bytes_;
    double block_;
    std::vector<double> blocks_;  // of each cluster
    const BlockTrees& trees_;
    std::vector<double> ranks_;  // of each cluster, as all of these
    std::vector<double> hosts_;
    std::vector<double> fullest_;  // the most ranks of a host
};

/// Every rank combines what comes from all others.
double combining_alone(Pricing& pricing) {
    double longest = 0;
    for (int c = 0; c < pricing.clusters(); ++c)
        longest = std::max(longest, pricing.costs().cluster(c).reduction);
    return longest * (pricing.machine().rank_count() - 1) * usual_block(pricing.request(), pricing.machine());
}

}  // namespace

std::vector<double> pace_of_combined(Pricing& pricing, const BlockTrees& trees, Bytes segment_bytes) {
    return CombiningTraffic(pricing, Aggregation::by_cluster, trees, segment_bytes).pace();
}

TreeTime combining_time(Pricing& pricing, Aggregation aggregation, const BlockTrees& trees,
                        Bytes segment_bytes) {
    if (aggregation != Aggregation::none)
        return CombiningTraffic(pricing, aggregation, trees, segment_bytes).time();
    TreeTime time = block_time(pricing, aggregation, segment_bytes);
    time.last += combining_alone(pricing);
    return time;
}

}  // namespace laple
