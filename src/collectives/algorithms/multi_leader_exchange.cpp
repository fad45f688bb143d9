// SPDX-License-Identifier: BSD-3-Clause
// Allgather over clusters in which every host leads: each sends its blocks to one host of every other
// cluster, and what each has got goes around inside the clusters. Ports and uplinks carry each block as often
// as they must, after one latency between clusters.
//
//     0 ──► 3            3 ──► 4 ──► 5 ──► 3     blocks of 0 and 3, of 1 and 4, of 2 and 5:
//     1 ──► 4            (and back: 3 ──► 0 ...)      H - 1 rounds of C messages
//     2 ──► 5
//
// In segments, what goes to other clusters goes at the pace of the busiest link, a segment to each cluster
// before one gets its second; meanwhile each cluster passes around what is its own, and then the segments as
// they come.
//
// (Träff, "Efficient allgather for regular SMP-clusters", 2006; Bienz, Gautam and Kharel, "A locality-aware
// Bruck allgather", 2022)
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/index.hpp"
#include "collectives/algorithms/hop_load.hpp"
#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/member_times.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/pace.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

constexpr std::string_view kName = "multi-leader-exchange";

/// Which of the `hosts` hosts of a cluster gets the blocks of the host at `place` of the cluster `from`.
/// Where clusters have different sizes, those that get one more are not the same for all clusters.
int partner(int place, std::size_t from, int hosts) {
    return (place + static_cast<int>(from)) % hosts;
}

/// The steps of one rank; those that lead no host only take part in what happens on theirs.
class ExchangeSteps {
  public:
    ExchangeSteps(const Part& part, ScheduleBuilder& builder, Bytes segment_bytes)
        : part_(part),
          segment_bytes_(segment_bytes),
          steps_(part, builder),
          ranges_(member_ranges(clusters_of_members(part.request, part.machine))) {
        while (!ranges_[own_].holds(self())) ++own_;
        pace_sends(part, builder);
        for (int member = 0; member < steps_.members().count(); ++member)
            segments_ = std::max(segments_, count_of(member));
        find_others();
    }

    void write() {
        steps_.gather_on_hosts();
        send_to_clusters();
        if (segment_bytes_ == 0) {
            for (int round = 0; round < hosts(); ++round) {
                pass_on(round, own_of(owner(round)), 0);
                for (const int member : others_[at(owner(round))]) pass_on(round, member, 0);
            }
            return;
        }
        for (int round = 0; round < hosts(); ++round) {
            const int member = own_of(owner(round));
            for (std::uint32_t i = 0; i < count_of(member); ++i) pass_on(round, member, i);
        }
        for (std::uint32_t i = 0; i < segments_; ++i) {
            for (int round = 0; round < hosts(); ++round)
                for (const int member : others_[at(owner(round))]) pass_on(round, member, i);
        }
    }

  private:
    void send_to_clusters() {
        const std::size_t clusters = ranges_.size();
        for (std::uint32_t i = 0; steps_.members().is_leader() && i < count_of(self()); ++i) {
            for (std::size_t other = 1; other < clusters; ++other) {
                const MemberRange to = ranges_[(own_ + other) % clusters];
                steps_.send(to.first + partner(place(), own_, to.count()), piece(self(), i));
            }
        }
    }

    /// In a round a host gets blocks from its left neighbour, or in the first one from other clusters.
    void pass_on(int round, int member, std::uint32_t segment) {
        if (segment >= count_of(member)) return;
        const bool is_leader = steps_.members().is_leader();
        const Segment part = piece(member, segment);
        if (is_leader && member != self()) steps_.recv(round > 0 ? beside(-1) : member, part);
        if (is_leader && round < hosts() - 1) steps_.send(beside(1), part);
        steps_.spread_on_host(part);
    }

    Segments segments_of(int member) const {
        return Segments::cut(block(member).units, part_.request.unit_bytes, segment_bytes_);
    }
    std::uint32_t count_of(int member) const {
        return block(member).units == 0 ? 0 : segments_of(member).count();
    }
    Segment piece(int member, std::uint32_t segment) const {
        const Segment piece = segments_of(member).at(segment);
        return {block(member).offset + piece.offset, piece.units};
    }

    int hosts() const { return ranges_[own_].count(); }
    /// Whose blocks a host has in a round, by its place.
    int owner(int round) const { return (place() - round + hosts()) % hosts(); }
    int own_of(int owner) const { return ranges_[own_].first + owner; }
    int self() const { return steps_.members().self(); }
    /// Of this host in its cluster.
    int place() const { return self() - ranges_[own_].first; }
    int beside(int distance) const {
        const int hosts = ranges_[own_].count();
        return ranges_[own_].first + (place() + distance + hosts) % hosts;
    }
    Segment block(int member) const { return steps_.parts(member, member + 1); }

    void find_others() {
        others_.resize(at(hosts()));
        for (std::size_t i = 1; i < ranges_.size(); ++i) {
            const std::size_t cluster = (own_ + ranges_.size() - i) % ranges_.size();
            const MemberRange from = ranges_[cluster];
            for (int member = from.first; member < from.end; ++member)
                others_[at(partner(member - from.first, cluster, hosts()))].push_back(member);
        }
    }

    const Part& part_;
    Bytes segment_bytes_;
    MemberSteps steps_;
    std::vector<MemberRange> ranges_;
    std::size_t own_ = 0;         // of ranges_
    std::uint32_t segments_ = 1;  // of the longest block
    /// By place in this cluster: the members of others that send their blocks to the host there.
    std::vector<std::vector<int>> others_;
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
                    const int place = to.first + partner(member - ranges_[c].first, c, to.count());
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
        for (int place = 0; place < own.count(); ++place)
            blocks.push_back({{own.first + place, times_.ready(own.first + place)}});
        for (std::size_t i = 1; i < ranges_.size(); ++i) {
            const std::size_t other = (cluster + ranges_.size() - i) % ranges_.size();
            const MemberRange from = ranges_[other];
            for (int member = from.first; member < from.end; ++member)
                blocks[at(partner(member - from.first, other, own.count()))].push_back(
                    {member, there(cluster, member)});
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

/// What ports and links have to carry in segments: in each cluster a port what that of the host with most
/// has, and links what all have together.
class ExchangeLoads {
  public:
    ExchangeLoads(Pricing& pricing, Bytes segment_bytes)
        : machine_(pricing.machine()),
          costs_(pricing.costs()),
          segment_bytes_(segment_bytes),
          all_(machine_, costs_, segment_bytes, HopLoad::Ports::rested),
          of_others_(machine_, costs_, segment_bytes, HopLoad::Ports::rested),
          far_(machine_, costs_, segment_bytes) {
        find_blocks(pricing.request());
        double all = 0;
        for (const Blocks& blocks : blocks_) all += blocks.all;
        for (int b = 0; b < costs_.count(); ++b) {
            const std::vector<double> got = got_from(b);
            for (int a = 0; a < costs_.count(); ++a) {
                if (a == b || blocks_[at(a)].all <= 0) continue;
                for (HopLoad* load : {&all_, &of_others_, &far_})
                    load->add(a, b, block_, blocks_[at(a)].most, got[at(a)], blocks_[at(a)].all);
            }
            for (HopLoad* load : {&all_, &of_others_}) {
                const double blocks = all - (load == &all_ ? 0 : blocks_[at(b)].all);
                const double passed = blocks * (hosts(b) - 1) / hosts(b);
                load->add(b, b, block_, passed, passed, passed * hosts(b));
            }
        }
    }

    /// What is a cluster's own goes around while the first blocks of others are on their way.
    TreeTime time() const {
        TreeTime time;
        // Until the last segment has gone around the largest cluster.
        const double last_round =
            time_around(machine_, costs_, std::min(block_, static_cast<double>(segment_bytes_)));
        time.first = far_.latency() + last_round;
        time.sustained = all_.busiest();
        time.last = last_round + std::max(all_.busiest(), far_.latency() + of_others_.busiest());
        return time;
    }

    std::vector<double> pace() const {
        return std::vector<double>(at(costs_.count()), far_.busiest() / ((costs_.count() - 1) * block_));
    }

  private:
    /// Of a cluster, in blocks of the host that has most of all.
    struct Blocks {
        std::vector<double> of_host;  // in the order of hosts_in()
        double most = 0;
        double all = 0;
    };

    void find_blocks(const Request& request) {
        for (int c = 0; c < costs_.count(); ++c) {
            Blocks& blocks = blocks_.emplace_back();
            for (const Host host : machine_.hosts_in(c)) {
                const auto bytes = static_cast<double>(bytes_of_blocks(request, machine_.ranks_on(host)));
                blocks.of_host.push_back(bytes);
                block_ = std::max(block_, bytes);
            }
        }
        for (Blocks& blocks : blocks_) {
            for (double& of_host : blocks.of_host) {
                of_host /= block_;
                blocks.most = std::max(blocks.most, of_host);
                blocks.all += of_host;
            }
        }
    }

    /// How many blocks of each cluster the host of cluster `b` gets that gets most.
    std::vector<double> got_from(int b) const {
        const auto count = at(static_cast<int>(hosts(b)));
        std::vector<std::vector<double>> got(count, std::vector<double>(at(costs_.count()), 0));
        std::vector<double> all(count, 0);
        for (int a = 0; a < costs_.count(); ++a) {
            for (int i = 0; a != b && i < static_cast<int>(hosts(a)); ++i) {
                const std::size_t place = at(partner(i, at(a), static_cast<int>(count)));
                got[place][at(a)] += blocks_[at(a)].of_host[at(i)];
                all[place] += blocks_[at(a)].of_host[at(i)];
            }
        }
        return got[at(static_cast<int>(std::max_element(all.begin(), all.end()) - all.begin()))];
    }

    double hosts(int cluster) const { return static_cast<double>(machine_.hosts_in(cluster).size()); }

    const Machine& machine_;
    const MachineCosts& costs_;
    Bytes segment_bytes_;
    HopLoad all_;
    HopLoad of_others_;  // that, but for what goes around its own cluster
    HopLoad far_;        // what goes to other clusters
    double block_ = 1;   // the bytes of the host that has most
    std::vector<Blocks> blocks_;
};

class MultiLeaderExchange final : public Algorithm {
  public:
    explicit MultiLeaderExchange(Bytes segment_bytes) : segment_bytes_(segment_bytes) {}

    std::string name() const override { return fmt::format("{}{}", kName, name_suffix(segment_bytes_, 1)); }
    Bytes segment_bytes() const override { return segment_bytes_; }
    std::string in_words() const override {
        return "hosts swap blocks with one of each other cluster, and pass them around";
    }
    bool can_do(const Request&, const Machine&) const override { return true; }

    std::optional<Candidate> price(Pricing& pricing) const override {
        Candidate candidate;
        candidate.algorithm = std::make_shared<MultiLeaderExchange>(segment_bytes_);
        if (segment_bytes_ > 0) {
            const ExchangeLoads loads(pricing, segment_bytes_);
            MemberTimes on_hosts(pricing);
            on_hosts.gather_on_hosts();
            const double gathered = on_hosts.seconds();
            const HostTime spread = on_hosts.spread_in_segments(segment_bytes_);
            candidate.time = loads.time();
            // Hosts spread what has come while more comes.
            candidate.seconds = gathered + spread.first + std::max(candidate.time.last, spread.interval);
            if (pricing.clusters() > 1) candidate.pace = loads.pace();
        } else {
            candidate.seconds = ExchangeTimes(pricing).seconds();
            candidate.time.first = candidate.time.last = candidate.seconds;
        }
        candidate.crossings = (pricing.clusters() - 1) * pricing.largest_cluster();
        candidate.hops = pricing.hops_in(kChainShape);
        return candidate;
    }

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        ExchangeSteps(part, builder, segment_bytes_).write();
    }

  private:
    Bytes segment_bytes_;  // 0: blocks are not cut
};

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    if (name.first() != kName) return nullptr;
    if (name.levels.size() > 1 || name.lanes > 1) refuse_name(name, "it takes neither levels nor lanes");
    return std::make_shared<MultiLeaderExchange>(name.segment_bytes);
}

/// In one cluster it is the ring. Long blocks that all hosts send at once overrun the queues of uplinks,
/// which no price knows: 64 KiB from 16 hosts at 4 sites took 141 ms, and 72 ms in segments at their pace.
void propose(Pricing& pricing, std::vector<Candidate>& found) {
    constexpr Bytes kLongBlock = 16 * 1024;
    if (pricing.clusters() == 1) return;
    const Machine& machine = pricing.machine();
    Bytes block = 0;
    for (Host host = 0; host < machine.host_count(); ++host)
        block = std::max(block, bytes_of_blocks(pricing.request(), machine.ranks_on(host)));
    const Bytes segment = pricing.paced_segment(block, static_cast<Bytes>(machine.host_count()));
    if (block <= kLongBlock || segment == 0) found.push_back(*MultiLeaderExchange(0).price(pricing));
    if (segment > 0) found.push_back(*MultiLeaderExchange(segment).price(pricing));
}

}  // namespace

Family multi_leader_exchange_family() {
    return {.name = kName,
            .grammar = fmt::format("{}[@SEGMENT]", kName),
            .summary = "each host swaps blocks with one of every other cluster, then they go around inside",
            .source = "Träff, 2006; Bienz, Gautam and Kharel, 2022",
            .is_for = is_gathered,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
