// SPDX-License-Identifier: BSD-3-Clause
// Allgather over clusters in which every host leads: each sends its blocks to one host of every other
// cluster, and what each has got goes around inside the clusters. Ports and uplinks carry each block as often
// as they must, after one latency between clusters.
//
//     0 ──► 3            3 ──► 4 ──► 5 ──► 3     blocks of 0 and 3, of 1 and 4, of 2 and 5:
//     1 ──► 4            (and back: 3 ──► 0 ...)      H - 1 rounds of C messages
//     2 ──► 5
//
//     there(c)   max over d of L(d, c) + the port's or the flow's time for the blocks of the hosts of d
//     last(c)    there(c) + (H-1) (L + the blocks of one host of each cluster)
//
// (Träff, "Efficient allgather for regular SMP-clusters", 2006; Bienz, Gautam and Kharel, "A locality-aware
// Bruck allgather", 2022)
#include <algorithm>

#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

constexpr std::string_view kName = "multi-leader-exchange";

/// The steps of one rank; those that lead no host only take part in what happens on theirs.
class ExchangeSteps {
  public:
    ExchangeSteps(const Part& part, ScheduleBuilder& builder)
        : steps_(part, builder), ranges_(member_ranges(clusters_of_members(part.request, part.machine))) {
        while (!ranges_[own_].holds(self())) ++own_;
    }

    void write() {
        steps_.gather_on_hosts();
        const bool is_leader = steps_.members().is_leader();
        const std::size_t clusters = ranges_.size();
        for (std::size_t i = 1; is_leader && i < clusters; ++i) {
            const MemberRange to = ranges_[(own_ + i) % clusters];
            steps_.send(to.first + place() % to.count(), block(self()));
        }
        const int hosts = ranges_[own_].count();
        for (int round = 0; round < hosts; ++round) {
            const int owner = (place() - round + hosts) % hosts;
            for_each_block(owner, [&](int member) {
                const bool is_own = member == self();
                const int from = round > 0 ? beside(-1) : member;
                if (is_leader && !is_own) steps_.recv(from, block(member));
                if (is_leader && round < hosts - 1) steps_.send(beside(1), block(member));
                steps_.spread_on_host(block(member));
            });
        }
    }

  private:
    int self() const { return steps_.members().self(); }
    /// Of this host in its cluster.
    int place() const { return self() - ranges_[own_].first; }
    int beside(int distance) const {
        const int hosts = ranges_[own_].count();
        return ranges_[own_].first + (place() + distance + hosts) % hosts;
    }
    Segment block(int member) const { return steps_.parts(member, member + 1); }

    /// The members whose blocks the host at `owner` of this cluster has before they go around: itself, and
    /// those of other clusters that send to it.
    template <typename Use>
    void for_each_block(int owner, Use use) {
        const int hosts = ranges_[own_].count();
        use(ranges_[own_].first + owner);
        for (std::size_t i = 1; i < ranges_.size(); ++i) {
            const MemberRange from = ranges_[(own_ + ranges_.size() - i) % ranges_.size()];
            for (int member = from.first + owner; member < from.end; member += hosts) use(member);
        }
    }

    MemberSteps steps_;
    std::vector<MemberRange> ranges_;
    std::size_t own_ = 0;  // of ranges_
};

/// Where `to` is a cluster, and each host of it gets some messages of a size from hosts of others.
class ExchangePrice {
  public:
    ExchangePrice(Pricing& pricing)
        : costs_(pricing.costs()), bytes_(bytes_of_member(pricing.request(), pricing.machine())) {
        const auto cluster_of = clusters_of_members(pricing.request(), pricing.machine());
        for (const MemberRange range : member_ranges(cluster_of))
            clusters_.push_back({cluster_of[static_cast<std::size_t>(range.first)], range.count()});
        on_hosts_ =
            time_on_hosts(bytes_, pricing.machine(), costs_) +
            time_on_hosts(bytes_of_result(pricing.request(), pricing.machine()), pricing.machine(), costs_);
    }

    double seconds() const {
        double last = 0;
        for (const Cluster& c : clusters_) last = std::max(last, last_in(c));
        return last + on_hosts_;
    }

  private:
    struct Cluster {
        int number;
        int hosts;
    };

    /// Messages that a host of `to` gets from those of `from`.
    static double messages(const Cluster& from, const Cluster& to) {
        return static_cast<double>((from.hosts + to.hosts - 1) / to.hosts);
    }
    double through(double rate, double messages) const {
        return rate > 0 ? messages * static_cast<double>(bytes_) / rate : 0;
    }
    double flow(int from, int to) const { return costs_.link(from, to).gap.at(bytes_).count(); }
    /// How long a port is busy with one message. (segment_times.hpp)
    double port(int from, int to, double nic) const {
        return nic > 0 ? std::min(flow(from, to), costs_.link(from, to).gap.at(0).count() + through(nic, 1))
                       : flow(from, to);
    }

    double out_of(const Cluster& c) const {
        double busy = 0;
        double hosts = 0;
        for (const Cluster& d : clusters_) {
            if (d.number == c.number) continue;
            busy += port(c.number, d.number, costs_.cluster(c.number).nic_out);
            hosts += c.hosts;
        }
        return std::max(busy, through(costs_.cluster(c.number).uplink_out, hosts));
    }

    double there(const Cluster& c) const {
        double there = 0;
        double in = 0;
        double all = 0;
        for (const Cluster& d : clusters_) {
            if (d.number == c.number) continue;
            const MachineCosts::Link& link = costs_.link(d.number, c.number);
            const double each = flow(d.number, c.number);
            const auto bytes = static_cast<double>(bytes_);
            in += messages(d, c) * port(d.number, c.number, costs_.cluster(c.number).nic_in);
            all += d.hosts;
            there = std::max(there, link.latency + std::max(out_of(d), each) +
                                        costs_.ramp(link.latency, bytes, each / bytes));
        }
        return std::max({there, in, through(costs_.cluster(c.number).uplink_in, all)});
    }

    double last_in(const Cluster& c) const {
        double carried = 0;
        for (const Cluster& d : clusters_) carried += messages(d, c);
        const MachineCosts::Link& inside = costs_.link(c.number, c.number);
        const double around = (c.hosts - 1) * (inside.latency + carried * inside.gap.at(bytes_).count());
        return there(c) + around;
    }

    const MachineCosts& costs_;
    Bytes bytes_;
    std::vector<Cluster> clusters_;
    double on_hosts_ = 0;
};

class MultiLeaderExchange final : public Algorithm {
  public:
    std::string name() const override { return std::string(kName); }
    std::string in_words() const override {
        return "hosts swap blocks with one of each other cluster, and pass them around";
    }
    bool can_do(const Request&, const Machine&) const override { return true; }

    std::optional<Candidate> price(Pricing& pricing) const override {
        Candidate candidate;
        candidate.algorithm = std::make_shared<MultiLeaderExchange>();
        candidate.seconds = ExchangePrice(pricing).seconds();
        candidate.time.first = candidate.time.last = candidate.seconds;
        candidate.crossings = pricing.clusters() - 1;
        candidate.hops = pricing.hops_in(kChainShape);
        return candidate;
    }

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        ExchangeSteps(part, builder).write();
    }
};

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    return name.text == kName ? std::make_shared<MultiLeaderExchange>() : nullptr;
}

/// In one cluster it is the ring.
void propose(Pricing& pricing, std::vector<Candidate>& found) {
    if (pricing.clusters() > 1) found.push_back(*MultiLeaderExchange().price(pricing));
}

}  // namespace

Family multi_leader_exchange_family() {
    return {.name = kName,
            .grammar = std::string(kName),
            .summary = "each host swaps blocks with one of every other cluster, then they go around inside",
            .source = "Träff, 2006; Bienz, Gautam and Kharel, 2022",
            .is_for = is_gathered,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
