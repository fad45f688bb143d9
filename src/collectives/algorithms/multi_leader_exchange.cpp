// SPDX-License-Identifier: BSD-3-Clause
// Allgather over clusters in which every host leads: each sends its blocks to one host of every other
// cluster, and what each has got goes around inside the clusters. Ports and uplinks carry each block as often
// as they must, after one latency between clusters.
//
//     0 ──► 3            3 ──► 4 ──► 5 ──► 3     blocks of 0 and 3, of 1 and 4, of 2 and 5:
//     1 ──► 4            (and back: 3 ──► 0 ...)      H - 1 rounds of C messages
//     2 ──► 5
//
// (Träff, "Efficient allgather for regular SMP-clusters", 2006; Bienz, Gautam and Kharel, "A locality-aware
// Bruck allgather", 2022)
#include <algorithm>

#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/member_times.hpp"
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

/// The times of these steps.
class ExchangeTimes {
  public:
    explicit ExchangeTimes(Pricing& pricing)
        : times_(pricing),
          ranges_(member_ranges(clusters_of_members(pricing.request(), pricing.machine()))) {}

    double seconds() {
        times_.gather_on_hosts();
        exchange();
        for (std::size_t cluster = 0; cluster < ranges_.size(); ++cluster) pass_around(cluster);
        return times_.seconds();
    }

  private:
    void exchange() {
        std::vector<NetworkClock::Message> sent;
        std::vector<std::size_t> cluster_of(static_cast<std::size_t>(times_.count()));
        std::vector<NetworkClock::Sending> messages;
        for (std::size_t c = 0; c < ranges_.size(); ++c) {
            for (int member = ranges_[c].first; member < ranges_[c].end; ++member) {
                cluster_of[static_cast<std::size_t>(member)] = c;
                messages.clear();
                const Bytes bytes = times_.bytes(member, member + 1);
                for (std::size_t i = 1; i < ranges_.size() && bytes > 0; ++i) {
                    const MemberRange to = ranges_[(c + i) % ranges_.size()];
                    const int place = to.first + (member - ranges_[c].first) % to.count();
                    messages.push_back({static_cast<std::size_t>(place), bytes});
                }
                times_.clock().send(static_cast<std::size_t>(member), times_.ready(member), messages, sent);
            }
        }
        times_.clock().deliver(sent);
        there_.assign(ranges_.size() * cluster_of.size(), 0);
        for (const auto& message : sent)
            there(cluster_of[message.to], static_cast<int>(message.from)) = message.last;
    }

    void pass_around(std::size_t cluster) {
        const MemberRange own = ranges_[cluster];
        RingBlocks blocks;
        for (int place = 0; place < own.count(); ++place) {
            blocks.push_back({{own.first + place, times_.ready(own.first + place)}});
            for (std::size_t i = 1; i < ranges_.size(); ++i) {
                const MemberRange from = ranges_[(cluster + ranges_.size() - i) % ranges_.size()];
                for (int member = from.first + place; member < from.end; member += own.count())
                    blocks.back().push_back({member, there(cluster, member)});
            }
        }
        times_.pass_around(own, blocks, false);
    }

    double& there(std::size_t cluster, int member) {
        return there_[cluster * static_cast<std::size_t>(times_.count()) + static_cast<std::size_t>(member)];
    }

    MemberTimes times_;
    std::vector<MemberRange> ranges_;
    std::vector<double> there_;  // blocks of a member in another cluster
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
        candidate.seconds = ExchangeTimes(pricing).seconds();
        candidate.time.first = candidate.time.last = candidate.seconds;
        candidate.crossings = (pricing.clusters() - 1) * pricing.largest_cluster();
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
