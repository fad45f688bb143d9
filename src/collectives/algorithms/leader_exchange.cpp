// SPDX-License-Identifier: BSD-3-Clause
// Allgather over clusters: the blocks of each come to its leader, leaders send them to each other, all at
// once, and pass what comes on along a tree in their clusters. One latency between clusters, and one copy of
// a block on each way between two of them; but a leader's port carries all that its cluster sends and gets.
//
//     0 ◄── 1              0 ◄────► 4              0 ── 1 ── 2 ── 3
//     0 ◄── 2   gather     each with each other    4 ── 5 ── 6 ── 7   broadcast, segment by segment
//     0 ◄── 3              leader
//
//     leader-exchange/chain@64K
//
// Or leaders pass on to the right what comes from the left, until it has been all around. As many latencies
// as there are clusters; but each cluster sends no more than it gets, and what its uplink carries is one
// connection each way: better where long blocks of many hosts have to leave by a thin uplink.
//
//     0 ──► 4 ──► 8        each what its cluster has, then what the left ones have
//     ▲           │
//     └── 12 ◄────┘        leader-ring/chain@64K
//
// (Kielmann et al., "MagPIe", PPoPP'99; Träff, "Efficient allgather for regular SMP-clusters", 2006;
// the ring: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH",
// 2005)
#include "collectives/algorithms/leader_exchange.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "collectives/algorithms/hop_load.hpp"
#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/leader_exchange_times.hpp"
#include "collectives/algorithms/pace.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

/// The steps of one rank. Those that lead no host only take part in what happens on theirs.
class ExchangeSteps {
  public:
    ExchangeSteps(const Part& part, ScheduleBuilder& builder, ExchangeWay way, Shape within,
                  Bytes segment_bytes, const RingOrder& order = {}, MemberLayout layout = {})
        : part_(part),
          way_(way),
          segment_bytes_(segment_bytes),
          steps_(part, builder, layout),
          ranges_(in_ring(member_ranges(clusters_of_members(part.request, part.machine)), order)) {
        while (!ranges_[own_].holds(self())) ++own_;
        const MemberRange own = ranges_[own_];
        const ShapeLinks links = links_of(within, own.count());
        const auto place = static_cast<std::size_t>(self() - own.first);
        parent_ = links.parent[place] < 0 ? -1 : own.first + links.parent[place];
        for (const int child : links.children[place]) children_.push_back(own.first + child);
    }

    void write() {
        steps_.gather_on_hosts();
        const bool is_leader = steps_.members().is_leader();
        if (is_leader) gather_in_cluster();
        const bool leads_cluster = is_leader && parent_ < 0;
        const std::size_t clusters = ranges_.size();
        const bool is_ring = way_ == ExchangeWay::ring;
        if (leads_cluster) {
            // Each starts with its right neighbour, so that not all send to the same leader first.
            for_each_segment(ranges_[own_], [&](Segment part) {
                for (std::size_t i = 1; i < (is_ring ? std::min<std::size_t>(clusters, 2) : clusters); ++i)
                    steps_.send(leader(own_ + i), part);
            });
        }
        for (std::size_t i = 0; i < clusters; ++i) {
            const std::size_t from = own_ + clusters - i;
            for_each_segment(ranges_[from % clusters], [&](Segment part) {
                if (leads_cluster && i > 0) steps_.recv(leader(is_ring ? own_ + clusters - 1 : from), part);
                if (leads_cluster && i > 0 && is_ring && i + 1 < clusters)
                    steps_.send(leader(own_ + 1), part);
                pass_on(part);
            });
        }
    }

    const MemberSteps& steps() const { return steps_; }

  private:
    int self() const { return steps_.members().self(); }
    /// Of that cluster, counted all around.
    int leader(std::size_t cluster) const { return ranges_[cluster % ranges_.size()].first; }

    void gather_in_cluster() {
        const MemberRange own = ranges_[own_];
        if (parent_ >= 0) return steps_.send(own.first, steps_.parts(self(), self() + 1));
        for (int member = own.first + 1; member < own.end; ++member)
            steps_.recv(member, steps_.parts(member, member + 1));
    }

    void pass_on(Segment part) {
        if (steps_.members().is_leader()) {
            if (parent_ >= 0) steps_.recv(parent_, part);
            for (const int child : children_) steps_.send(child, part);
        }
        steps_.spread_on_host(part);
    }

    template <typename Use>
    void for_each_segment(MemberRange range, Use use) {
        const Segment all = steps_.parts(range.first, range.end);
        if (all.units == 0) return;
        const Segments segments = Segments::cut(all.units, part_.request.unit_bytes, segment_bytes_);
        for (std::uint32_t s = 0; s < segments.count(); ++s) {
            const Segment part = segments.at(s);
            use(Segment{all.offset + part.offset, part.units});
        }
    }

    const Part& part_;
    ExchangeWay way_;
    Bytes segment_bytes_;
    MemberSteps steps_;
    std::vector<MemberRange> ranges_;
    std::size_t own_ = 0;  // of ranges_
    int parent_ = -1;      // members of the own cluster
    std::vector<int> children_;
};

class LeaderExchange final : public Algorithm {
  public:
    LeaderExchange(ExchangeWay way, Shape within, Bytes segment_bytes, RingOrder order = {})
        : way_(way), within_(within), segment_bytes_(segment_bytes), order_(std::move(order)) {}

    std::string name() const override {
        return fmt::format("{}/{}{}", name_of(way_), laple::name_of(within_), name_suffix(segment_bytes_, 1));
    }
    std::string in_words() const override {
        return way_ == ExchangeWay::ring ? "what clusters have goes round by their leaders"
                                         : "leaders of clusters swap what their clusters have";
    }
    std::string details() const override {
        return order_.empty() ? "" : fmt::format(" around {}", fmt::join(order_, ">"));
    }
    Bytes segment_bytes() const override { return segment_bytes_; }
    bool can_do(const Request&, const Machine&) const override { return true; }

    std::optional<Candidate> price(Pricing& pricing) const override;
    /// The same, where what all of them begin with is known.
    Candidate price(Pricing& pricing, const ExchangeTimes& begun) const;

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        pace_sends(part, builder);
        ExchangeSteps(part, builder, way_, within_, segment_bytes_, order_).write();
    }

  private:
    ExchangeWay way_;
    Shape within_;
    Bytes segment_bytes_;
    RingOrder order_;
};

/// Seconds a byte, by cluster: all leaders send for as long as the busiest link takes. Without it segments
/// overrun the queues of uplinks: the allgather of propose() took 1212 to 1474 ms after calls of MPI's own.
std::vector<double> pace_of_leaders(const Pricing& pricing, Bytes segment_bytes) {
    const Machine& machine = pricing.machine();
    std::vector<double> bytes;
    for (int c = 0; c < machine.cluster_count(); ++c) {
        bytes.push_back(0);
        for (const Host host : machine.hosts_in(c))
            bytes.back() += static_cast<double>(bytes_of_blocks(pricing.request(), machine.ranks_on(host)));
    }
    HopLoad load(machine, pricing.costs(), segment_bytes);
    for (int a = 0; a < machine.cluster_count(); ++a) {
        for (int b = 0; b < machine.cluster_count(); ++b) {
            if (a != b && bytes[at(a)] > 0) load.add(a, b, bytes[at(a)], 1, 1, 1);
        }
    }
    std::vector<double> pace;
    for (const double own : bytes)
        pace.push_back(own > 0 ? load.busiest() / ((machine.cluster_count() - 1) * own) : 0);
    return pace;
}

std::optional<Candidate> LeaderExchange::price(Pricing& pricing) const {
    return price(pricing, ExchangeTimes(pricing));
}

Candidate LeaderExchange::price(Pricing& pricing, const ExchangeTimes& begun) const {
    Candidate candidate;
    const RingOrder order = way_ == ExchangeWay::ring ? ring_order(pricing) : RingOrder();
    candidate.algorithm = std::make_shared<LeaderExchange>(way_, within_, segment_bytes_, order);
    candidate.seconds = ExchangeTimes(begun, within_, segment_bytes_, order).seconds(way_);
    candidate.time.first = candidate.time.last = candidate.seconds;
    // Messages of one size only: pieces are as many as in multi-leader-exchange, or more.
    candidate.crossings = (pricing.clusters() - 1) * (segment_bytes_ > 0 ? pricing.largest_cluster() : 1);
    candidate.hops = pricing.hops_in(within_);
    const bool is_paced = way_ == ExchangeWay::all_at_once && segment_bytes_ > 0 && pricing.clusters() > 1;
    if (is_paced) candidate.pace = pace_of_leaders(pricing, segment_bytes_);
    return candidate;
}

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    const bool is_ring = name.first() == name_of(ExchangeWay::ring);
    if (!is_ring && name.first() != name_of(ExchangeWay::all_at_once)) return nullptr;
    if (name.levels.size() != 2 || name.lanes > 1)
        refuse_name(name, "it takes one level below it, and no lanes");
    const auto within = shape_named(name.last());
    if (!within) refuse_name(name, "its level is a tree, without a rule or leaders");
    return std::make_shared<LeaderExchange>(is_ring ? ExchangeWay::ring : ExchangeWay::all_at_once, *within,
                                            name.segment_bytes);
}

void propose(Pricing& pricing, std::vector<Candidate>& found) {
    // Handshakes wait behind all that the uplinks' queues hold: an allgather of 256 KiB between eight sites
    // of 20 Mbit/s took 1046 ms in segments of 64 KiB, 817 to 830 in segments of 16.
    constexpr Bytes kShort = 8 * 1024;
    constexpr Bytes kLong = 64 * 1024;
    constexpr Bytes kMostSegments = 8192;
    const ExchangeTimes begun(pricing);
    const Bytes all = bytes_of_result(pricing.request(), pricing.machine());
    Bytes longest = pricing.longest_segment();
    while (longest < kLong && all / longest > kMostSegments) longest = std::min(2 * longest, kLong);
    const Bytes shortest = all / kShort > kMostSegments ? longest : std::min(kShort, longest);
    const std::set<Bytes> segments{shortest, longest};
    for (const Shape within : {kBinomialShape, kFlatShape, kBinaryShape})
        found.push_back(LeaderExchange(ExchangeWay::all_at_once, within, 0).price(pricing, begun));
    for (const Bytes segment_bytes : segments) {
        if (2 * segment_bytes > all) continue;
        for (const Shape within : {kBinaryShape, kChainShape}) {
            // Of hosts alone it is multi-leader-exchange.
            if (pricing.largest_cluster() > 1)
                found.push_back(
                    LeaderExchange(ExchangeWay::all_at_once, within, segment_bytes).price(pricing, begun));
            if (pricing.clusters() > 2)
                found.push_back(
                    LeaderExchange(ExchangeWay::ring, within, segment_bytes).price(pricing, begun));
        }
    }
}

}  // namespace

std::vector<Region> gather_apart(const Part& part, ScheduleBuilder& builder) {
    ExchangeSteps exchange(part, builder, ExchangeWay::all_at_once, kBinomialShape, 0, {},
                           {.is_apart = true});
    exchange.write();
    std::vector<Region> places(static_cast<std::size_t>(part.machine.rank_count()));
    const HostMembers& members = exchange.steps().members();
    for (int member = 0; member < members.count(); ++member) {
        for (const HostMembers::Block& block : members.blocks_of(member))
            places[static_cast<std::size_t>(block.rank)] = {exchange.steps().message(), block.begin,
                                                            part.request.block_units(block.rank)};
    }
    return places;
}

Family leader_exchange_family() {
    return {.name = "leader-exchange",
            .grammar = "leader-exchange/LEVEL[@SEGMENT], leader-ring/LEVEL[@SEGMENT]",
            .summary = "leaders of clusters swap what their clusters have, all at once or in a ring",
            .source = "MagPIe, PPoPP'99; Träff, 2006",
            .is_for = is_gathered,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
