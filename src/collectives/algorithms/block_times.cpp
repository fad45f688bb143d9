// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/block_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/index.hpp"
#include "collectives/algorithms/hop_load.hpp"

namespace laple {
namespace {

/// Who has blocks for whom, cluster by cluster.
class Traffic {
  public:
    Traffic(Pricing& pricing, Aggregation aggregation, Bytes segment_bytes, Blocks blocks)
        : machine_(pricing.machine()),
          costs_(pricing.costs()),
          aggregation_(aggregation),
          segment_bytes_(segment_bytes),
          block_(static_cast<double>(pricing.request().bytes())),
          blocks_(blocks) {
        const CollectiveRow& row = row_of(pricing.request().collective);
        is_from_all_ = !row.is_rooted || row.runs_to_root;
        is_to_all_ = !row.is_rooted || !row.runs_to_root;
        if (row.is_rooted) {
            root_ = pricing.root_cluster();
            at_root_ =
                static_cast<double>(machine_.ranks_on(machine_.host_of(pricing.request().root)).size());
        }
        for (int c = 0; c < costs_.count(); ++c) {
            ranks_.push_back(static_cast<double>(machine_.ranks_in(c).size()));
            hosts_.push_back(static_cast<double>(machine_.hosts_in(c).size()));
            fullest_.push_back(machine_.most_ranks_on_a_host(c));
        }
    }

    TreeTime time() {
        TreeTime time;
        add_on_hosts(time);
        if (aggregation_ == Aggregation::by_cluster) add(time, to_carriers());
        const HopLoad hop = between(HopLoad::Ports::rested);
        add(time, hop);
        if (goes_straight_to_root()) time.last += end_at_root(hop) - hop.seconds();
        if (aggregation_ == Aggregation::by_cluster) add(time, from_carriers());
        return time;
    }

    std::vector<double> pace() const {
        // What agents send is priced as if it took turns at their port. A root that sends alone holds itself
        // up, and of what goes to a root little comes from each port.
        if (goes_straight_to_root()) return pace_to_root();
        const bool is_to_root = root_ >= 0 && is_from_all_ && aggregation_ == Aggregation::none;
        if (is_to_root && blocks_ == Blocks::of_unknown_sizes) return pace_of_unknown_to_root();
        const HopLoad hop = between(HopLoad::Ports::busy);
        const bool take_turns = aggregation_ != Aggregation::none && root_ < 0;
        const double busiest = take_turns ? hop.busiest() : hop.busiest_queue();
        std::vector<double> pace;
        for (int c = 0; c < costs_.count(); ++c) {
            const double far = block_ * most_far_blocks(c);
            pace.push_back(far > 0 ? busiest / far : 0);
        }
        return pace;
    }

  private:
    /// One by one, so that it can be told when they come. Of many clusters that would take long to find out.
    bool goes_straight_to_root() const {
        return root_ >= 0 && is_from_all_ && aggregation_ == Aggregation::none &&
               blocks_ != Blocks::of_unknown_sizes && costs_.count() <= kManyClusters;
    }

    /// Clusters whose blocks come to a root while others' do.
    struct Arrivals {
        std::vector<int> clusters;
        double begin = 0;  // after all have sent
    };

    /// In their order: what comes from afar may find the root's link free again.
    ///
    ///     near   ████                 one after the other, if the far latency is
    ///     far            ████         longer than what is near takes
    std::vector<Arrivals> arrivals() const {
        constexpr double kSlack = 1.1;  // plans are for blocks of about a size
        std::vector<int> nearest_first = all_below(at(costs_.count()));
        std::stable_sort(nearest_first.begin(), nearest_first.end(),
                         [this](int a, int b) { return latency_to_root(a) < latency_to_root(b); });
        std::vector<Arrivals> all;
        double free = 0;
        for (const int c : nearest_first) {
            if (all.empty() || latency_to_root(c) >= kSlack * free) all.push_back({{}, latency_to_root(c)});
            all.back().clusters.push_back(c);
            const auto load = [this](const std::vector<int>& clusters) {
                return from_clusters(clusters, HopLoad::Ports::busy).busiest_queue();
            };
            free = std::max(
                {free, all.back().begin + load(all.back().clusters), latency_to_root(c) + load({c})});
        }
        return all;
    }
    double latency_to_root(int c) const { return costs_.link(c, root_).latency; }

    /// Until all has come, which no single message can do sooner.
    double end_at_root(const HopLoad& hop) const {
        double end = hop.alone();
        HopLoad::Ports ports = HopLoad::Ports::rested;  // until the first have come
        const auto busiest = [&](const std::vector<int>& clusters) {
            return from_clusters(clusters, ports).busiest();
        };
        for (const Arrivals& each : arrivals()) {
            end = std::max(end, each.begin + busiest(each.clusters));
            for (const int c : each.clusters) end = std::max(end, latency_to_root(c) + busiest({c}));
            if (busiest(each.clusters) > 0) ports = HopLoad::Ports::busy;
        }
        return end;
    }

    /// As much as the root's link carries of those whose blocks come at the same time.
    std::vector<double> pace_to_root() const {
        std::vector<double> pace(ranks_.size(), 0);
        for (const Arrivals& each : arrivals()) {
            const double busiest = from_clusters(each.clusters, HopLoad::Ports::busy).busiest_queue();
            for (const int c : each.clusters) {
                const double far = block_ * most_far_blocks(c);
                pace[at(c)] = far > 0 ? busiest / far : 0;
            }
        }
        return pace;
    }

    /// Who has much is not held up by the links of others, who may have nothing: by the root's, and by what
    /// is between.
    std::vector<double> pace_of_unknown_to_root() const {
        const double of_root = between(HopLoad::Ports::busy).queue_of(root_);
        std::vector<double> pace;
        for (int c = 0; c < costs_.count(); ++c) {
            const double far = block_ * most_far_blocks(c);
            const double own = from_clusters({c}, HopLoad::Ports::busy).busiest_queue();
            pace.push_back(far > 0 ? std::max(of_root, own) / far : 0);
        }
        return pace;
    }

    /// Of a cluster's ranks, or its fullest host's, those that have blocks for others, or get some.
    double sources(int c, double count) const { return is_from_all_ ? count : (c == root_ ? 1 : 0); }
    double dests(int c, double count) const { return is_to_all_ ? count : (c == root_ ? 1 : 0); }
    bool has_root(int c) const { return c == root_; }

    /// Of the rank of a cluster that sends most to other clusters: how many blocks.
    double most_far_blocks(int c) const {
        double all = 0;
        for (int other = 0; other < costs_.count(); ++other)
            all += other == c ? 0 : dests(other, ranks_[at(other)]);
        if (aggregation_ == Aggregation::by_cluster) return most_blocks_of_carrier(c);
        if (aggregation_ == Aggregation::none) return sources(c, 1) * all;
        if (root_ >= 0) return is_to_all_ ? sources(c, 1) * all : fullest_[at(c)] * all;
        // A host's ranks are agents for other hosts by turns.
        double most = 0;
        for (const Host host : machine_.hosts_in(c)) {
            std::vector<double> blocks(machine_.ranks_on(host).size(), 0);
            for (Host other = 0; other < machine_.host_count(); ++other) {
                if (machine_.cluster_of(other) != c)
                    blocks[agent_index(host, other, blocks.size())] +=
                        static_cast<double>(machine_.ranks_on(other).size());
            }
            most = std::max(
                most, *std::max_element(blocks.begin(), blocks.end()) * static_cast<double>(blocks.size()));
        }
        return most;
    }

    /// A carrier sends all that its cluster has for the clusters that fall to its host; a root is the only
    /// one.
    double most_blocks_of_carrier(int c) const {
        std::vector<double> blocks;
        for (int other = 0; other < costs_.count(); ++other) {
            if (other != c) blocks.push_back(sources(c, ranks_[at(c)]) * dests(other, ranks_[at(other)]));
        }
        std::sort(blocks.rbegin(), blocks.rend());
        const auto of_host = static_cast<std::size_t>(
            std::ceil(static_cast<double>(blocks.size()) / (has_root(c) ? 1 : hosts_[at(c)])));
        return std::accumulate(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(of_host), 0.0);
    }

    static void add(TreeTime& time, const HopLoad& hop) {
        time.first += hop.latency();
        time.last += hop.seconds();
        time.sustained += hop.busiest_port();
    }

    /// Each rank copies what it has for the agents of its host, and gets what these have for it.
    void add_on_hosts(TreeTime& time) const {
        const double all = static_cast<double>(machine_.rank_count());
        double longest = 0;
        for (int c = 0; c < costs_.count(); ++c) {
            const double others = fullest_[at(c)] - 1;
            if (others <= 0) continue;
            const MachineCosts::Link& memory = costs_.cluster(c).memory;
            // Among themselves; and where blocks go together, in as many messages, to agents and from them.
            double seconds = memory.latency + others * memory.gap.at(static_cast<Bytes>(block_)).count();
            if (aggregation_ != Aggregation::none) {
                const double of_agent = block_ * (all - fullest_[at(c)]) / fullest_[at(c)];
                seconds += (root_ < 0 ? 2 : 1) *
                           (memory.latency + others * memory.gap.at(static_cast<Bytes>(of_agent)).count());
            }
            longest = std::max(longest, seconds);
        }
        time.last += longest;
    }

    /// Between the ranks of different hosts, agents of hosts, or carriers of clusters.
    HopLoad between(HopLoad::Ports ports) const {
        HopLoad hop(machine_, costs_, segment_bytes_, ports);
        for (int a = 0; a < costs_.count(); ++a) {
            for (int b = 0; b < costs_.count(); ++b) add_between(hop, a, b);
        }
        return hop;
    }

    /// To the root.
    HopLoad from_clusters(const std::vector<int>& clusters, HopLoad::Ports ports) const {
        HopLoad hop(machine_, costs_, segment_bytes_, ports);
        for (const int c : clusters) add_between(hop, c, root_);
        return hop;
    }

    void add_between(HopLoad& hop, int a, int b) const {
        const double from = sources(a, ranks_[at(a)]);
        const double to = dests(b, ranks_[at(b)]);
        if (from * to <= 0) return;
        if (aggregation_ == Aggregation::by_cluster && a != b) {
            // Hosts take turns at the other clusters; a root has them all.
            const double others = costs_.count() - 1;
            const double share_a = has_root(a) ? 1 : std::ceil(others / hosts_[at(a)]) / others;
            const double share_b = has_root(b) ? 1 : std::ceil(others / hosts_[at(b)]) / others;
            hop.add(a, b, block_ * from * to, share_a, share_b, 1);
            return;
        }
        // Of the fullest host of each side; the root's host, where there is a root.
        const double from_host = sources(a, fullest_[at(a)]);
        const double to_host = dests(b, fullest_[at(b)]);
        const double to_others =
            a != b ? to : (is_to_all_ ? to - (root_ < 0 ? fullest_[at(a)] : at_root_) : 1);
        const double from_others =
            a != b ? from : (is_from_all_ ? from - (root_ < 0 ? fullest_[at(a)] : at_root_) : 1);
        if (to_others <= 0 || from_others <= 0) return;
        const bool by_host = aggregation_ != Aggregation::none;
        const double hosts_to = is_to_all_ ? hosts_[at(b)] - (a == b ? 1 : 0) : 1;
        const double hosts_from = is_from_all_ ? hosts_[at(a)] - (a == b ? 1 : 0) : 1;
        if (hosts_to <= 0 || hosts_from <= 0) return;
        if (by_host) {
            // The fullest host has this much for another one, on the average, or gets it. Others have less.
            const double sent = from_host * to_others;
            const double got = to_host * from_others;
            const double blocks = std::max(sent / hosts_to, got / hosts_from);
            if (blocks <= 0) return;
            hop.add(a, b, block_ * blocks, sent / blocks, got / blocks,
                    (is_to_all_ ? from * to_others : from_others) / blocks);
        } else {
            hop.add(a, b, block_, from_host * to_others, to_host * from_others,
                    is_to_all_ ? from * to_others : from_others);
        }
    }

    /// What the hosts of a cluster have for the carriers; and what these have for the hosts.
    HopLoad to_carriers() const {
        HopLoad hop(machine_, costs_);
        for (int a = 0; a < costs_.count(); ++a) add_inside(hop, a, true);
        return hop;
    }
    HopLoad from_carriers() const {
        HopLoad hop(machine_, costs_);
        for (int a = 0; a < costs_.count(); ++a) add_inside(hop, a, false);
        return hop;
    }

    /// A root is the carrier for all other clusters, and has, or gets, all by itself.
    void add_inside(HopLoad& hop, int a, bool is_out) const {
        const double others = hosts_[at(a)] - 1;
        if (others <= 0 || has_root(a)) return;
        const double turns = std::ceil((costs_.count() - 1) / hosts_[at(a)]);
        for (int b = 0; b < costs_.count(); ++b) {
            if (b == a) continue;
            const double there = is_out ? dests(b, ranks_[at(b)]) : sources(b, ranks_[at(b)]);
            const double here = is_out ? sources(a, fullest_[at(a)]) : dests(a, fullest_[at(a)]);
            if (there * here <= 0) continue;
            // Each host has one message for the carrier of b, unless it is that itself.
            const double share = turns / (costs_.count() - 1);
            const double one = others / (others + 1);
            const double of_host = root_ < 0 ? one : 1;
            const double of_carrier = root_ < 0 ? others * share : others;
            hop.add(a, a, block_ * here * there, is_out ? of_host : of_carrier, is_out ? of_carrier : of_host,
                    others);
        }
    }

    const Machine& machine_;
    const MachineCosts& costs_;
    Aggregation aggregation_;
    Bytes segment_bytes_;
    double block_;
    Blocks blocks_;
    bool is_from_all_ = true;
    bool is_to_all_ = true;
    int root_ = -1;              // the root's cluster
    double at_root_ = 0;         // ranks on the root's host
    std::vector<double> ranks_;  // of each cluster, as all of these
    std::vector<double> hosts_;
    std::vector<double> fullest_;  // the most ranks of a host
};

}  // namespace

TreeTime block_time(Pricing& pricing, Aggregation aggregation, Bytes segment_bytes) {
    const Blocks blocks = pricing.request().is_varied ? Blocks::of_unknown_sizes : Blocks::alike;
    return Traffic(pricing, aggregation, segment_bytes, blocks).time();
}

std::vector<double> pace_of_blocks(Pricing& pricing, Aggregation aggregation, Bytes segment_bytes,
                                   Blocks blocks) {
    return Traffic(pricing, aggregation, segment_bytes, blocks).pace();
}

}  // namespace laple
