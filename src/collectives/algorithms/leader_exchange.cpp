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
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/member_times.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

/// How what clusters have comes to the other ones.
enum class Way { all_at_once, ring };

constexpr std::string_view name_of(Way way) {
    return way == Way::ring ? "leader-ring" : "leader-exchange";
}

/// By place in the ring, a cluster of those in the order of members; empty: as it is. Costs decide it.
using RingOrder = std::vector<std::size_t>;

template <typename Value>
std::vector<Value> in_ring(const std::vector<Value>& values, const RingOrder& order) {
    if (order.empty()) return values;
    std::vector<Value> moved;
    for (const std::size_t place : order) moved.push_back(values[place]);
    return moved;
}

/// From each cluster to the nearest one that is not in the ring yet.
RingOrder ring_order(const Pricing& pricing) {
    const std::vector<int> cluster_of = clusters_of_members(pricing.request(), pricing.machine());
    std::vector<int> clusters;
    for (const MemberRange range : member_ranges(cluster_of))
        clusters.push_back(cluster_of[static_cast<std::size_t>(range.first)]);
    RingOrder order(clusters.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto latency_from = [&](int from, std::size_t to) {
        const MachineCosts& costs = pricing.costs();
        return costs.link(from, clusters[to]).latency + costs.link(clusters[to], from).latency;
    };
    for (auto last = order.begin(); last != order.end() && last + 1 != order.end(); ++last) {
        const int from = clusters[*last];
        std::iter_swap(last + 1, std::min_element(last + 1, order.end(), [&](std::size_t a, std::size_t b) {
                           return std::pair(latency_from(from, a), a) < std::pair(latency_from(from, b), b);
                       }));
    }
    return order;
}

/// The steps of one rank. Those that lead no host only take part in what happens on theirs.
class ExchangeSteps {
  public:
    ExchangeSteps(const Part& part, ScheduleBuilder& builder, Way way, Shape within, Bytes segment_bytes,
                  const RingOrder& order = {}, MemberLayout layout = {})
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
        const bool is_ring = way_ == Way::ring;
        if (leads_cluster) {
            // Each starts with its right neighbour, so that not all send to the same leader first.
            for (std::size_t i = 1; i < (is_ring ? std::min<std::size_t>(clusters, 2) : clusters); ++i) {
                const int peer = leader(own_ + i);
                for_each_segment(ranges_[own_], [&](Segment part) { steps_.send(peer, part); });
            }
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
    Way way_;
    Bytes segment_bytes_;
    MemberSteps steps_;
    std::vector<MemberRange> ranges_;
    std::size_t own_ = 0;  // of ranges_
    int parent_ = -1;      // members of the own cluster
    std::vector<int> children_;
};

class ExchangeTimes;

class LeaderExchange final : public Algorithm {
  public:
    LeaderExchange(Way way, Shape within, Bytes segment_bytes, RingOrder order = {})
        : way_(way), within_(within), segment_bytes_(segment_bytes), order_(std::move(order)) {}

    std::string name() const override {
        return fmt::format("{}/{}{}", name_of(way_), laple::name_of(within_), name_suffix(segment_bytes_, 1));
    }
    std::string in_words() const override {
        return way_ == Way::ring ? "what clusters have goes round by their leaders"
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
        ExchangeSteps(part, builder, way_, within_, segment_bytes_, order_).write();
    }

  private:
    Way way_;
    Shape within_;
    Bytes segment_bytes_;
    RingOrder order_;
};

/// The times of these steps. Of a cluster's tree it follows the longest way down, along first children.
class ExchangeTimes {
  public:
    /// What all of them begin with: blocks come to the leaders of clusters.
    explicit ExchangeTimes(Pricing& pricing) : times_(pricing) {
        times_.gather_on_hosts();
        for (const MemberRange range :
             member_ranges(clusters_of_members(pricing.request(), pricing.machine()))) {
            const Bytes bytes = times_.bytes(range.first, range.end);
            clusters_.push_back({range, {}, bytes, 1, bytes});
            clusters_.back().gathered = gather(range);
        }
    }
    ExchangeTimes(ExchangeTimes begun, Shape within, Bytes segment_bytes, const RingOrder& order)
        : ExchangeTimes(std::move(begun)) {
        clusters_ = in_ring(clusters_, order);
        for (Cluster& c : clusters_) {
            const Segments pieces = Segments::cut(std::max<Bytes>(c.bytes, 1), 1, segment_bytes);
            c.links = links_of(within, c.range.count());
            c.pieces = static_cast<double>(pieces.count());
            c.piece = pieces.segment_bytes();
        }
    }
    double seconds(Way way) {
        if (way == Way::ring) {
            go_around();
        } else {
            for (std::size_t c = 0; c < clusters_.size(); ++c) send_from(c);
            times_.clock().deliver(sent_);
        }
        double last = times_.seconds();
        for (std::size_t c = 0; c < clusters_.size(); ++c) last = std::max(last, last_in(c));
        return last;
    }

  private:
    /// Pieces that follow each other: when the first one is there, and the last one.
    struct Train {
        double first = 0;
        double last = 0;
    };
    struct Cluster {
        MemberRange range;
        ShapeLinks links;
        Bytes bytes;  // of all its blocks, which its leader sends in
        double pieces;
        Bytes piece;
        double gathered = 0;  // its leader has all blocks
        Train has = {};       // the leader, of them
        double free = 0;      // the leader's port, after it has sent them
    };
    static std::size_t at(int member) { return static_cast<std::size_t>(member); }
    MessageTimes piece_of(const Cluster& cluster, std::size_t from, std::size_t to) {
        return times_.clock().times(from, to, cluster.piece, cluster.pieces > 1);
    }

    /// Blocks of its cluster come to a leader; when it has all of them.
    double gather(const MemberRange& range) {
        std::vector<NetworkClock::Message> sent;
        for (int member = range.first + 1; member < range.end; ++member) {
            const NetworkClock::Sending block{at(range.first), times_.bytes(member, member + 1)};
            if (block.bytes > 0) times_.clock().send(at(member), times_.ready(member), {&block, 1}, sent);
        }
        times_.clock().deliver(sent);
        double last = times_.ready(range.first);
        for (const auto& message : sent) last = std::max(last, message.last);
        return last;
    }

    /// A leader sends what its cluster has to all others and to its own children at once; the first pieces
    /// need not wait for the last blocks.
    void send_from(std::size_t number) {
        Cluster& c = clusters_[number];
        const std::size_t leader = at(c.range.first);
        const double own = times_.ready(c.range.first);
        const double all = c.gathered;
        const double ready = c.pieces > 1 ? own : all;
        c.has = {ready, all};
        std::vector<NetworkClock::Sending> messages;
        for (std::size_t i = 1; i < clusters_.size(); ++i)
            messages.push_back(
                {at(clusters_[(number + i) % clusters_.size()].range.first), c.piece, c.pieces});
        for (const int child : c.links.children.front())
            messages.push_back({leader + at(child), c.piece, c.pieces});
        if (c.bytes == 0) messages.clear();
        times_.clock().send(leader, ready, messages, sent_);
        double together = 0;  // the first pieces of all
        for (const auto& message : messages) together += piece_of(c, leader, message.to).port_out;
        for (std::size_t i = 0; i < messages.size(); ++i) {
            NetworkClock::Message& message = sent_[sent_.size() - messages.size() + i];
            const MessageTimes piece = piece_of(c, leader, message.to);
            message.last = std::max(message.last, all + piece.interval());
            ahead_.push_back(std::max(together, piece.interval()) + piece.latency);
        }
        c.free = std::max(all, times_.clock().out_free(leader));
    }

    /// A leader sends what its cluster has, and then what comes from the left one, to the right one and to
    /// its own children.
    void go_around() {
        const std::size_t count = clusters_.size();
        around_.assign(count, std::vector<Train>(count));
        std::vector<double> free(count, 0);
        for (std::size_t c = 0; c < count; ++c) {
            const double own = times_.ready(clusters_[c].range.first);
            around_[c][0] = {clusters_[c].pieces > 1 ? own : clusters_[c].gathered, clusters_[c].gathered};
        }
        for (std::size_t i = 0; i + 1 < count; ++i) {
            for (std::size_t c = 0; c < count; ++c) {
                const std::size_t right = (c + 1) % count;
                const Cluster& source = clusters_[sender(c, i)];
                if (source.bytes > 0)
                    around_[right][i + 1] =
                        passed(source, at(clusters_[c].range.first), at(clusters_[right].range.first),
                               clusters_[c].links.children.front().size(), around_[c][i], free[c]);
            }
        }
    }

    /// What a leader passes to the next one, when its port is free from `free` on.
    Train passed(const Cluster& source, std::size_t from, std::size_t to, std::size_t children,
                 const Train& train, double& free) {
        const MessageTimes piece = piece_of(source, from, to);
        const double inside = static_cast<double>(children) * piece_of(source, from, from).port_out;
        const double each = std::max(piece.interval(), piece.port_out + inside);
        const double begin = std::max(free, train.first);
        free = std::max(begin + source.pieces * each, train.last + each);
        return {begin + each + piece.latency, free + piece.latency};
    }

    /// What each cluster has, at the leader of cluster `number` or at its first child, in the order in which
    /// they are passed on: its own first, then those of its left neighbours.
    std::vector<Train> trains_at(std::size_t number, int member) {
        std::vector<Train> trains(clusters_.size());
        for (std::size_t i = 0; i < sent_.size(); ++i) {
            if (sent_[i].to != at(member)) continue;
            const std::size_t from = cluster_of(sent_[i].from);
            const double first = sent_[i].first + ahead_[i] - sent_[i].times.latency;
            trains[(number + clusters_.size() - from) % clusters_.size()] = {
                clusters_[from].pieces > 1 ? std::min(first, sent_[i].last) : sent_[i].last, sent_[i].last};
        }
        return trains;
    }
    std::size_t cluster_of(std::size_t member) const {
        std::size_t cluster = 0;
        while (!clusters_[cluster].range.holds(static_cast<int>(member))) ++cluster;
        return cluster;
    }
    std::size_t sender(std::size_t number, std::size_t i) const {
        return (number + clusters_.size() - i) % clusters_.size();
    }

    /// A member passes on what comes to it to its `children`, the first of which is `child`; but not the
    /// first ones of the trains, which it has sent already.
    void pass_on(std::size_t number, int node, int child, std::size_t children, double free,
                 std::size_t already, std::vector<Train>& trains) {
        const std::size_t from = at(clusters_[number].range.first + node);
        const std::size_t to = at(clusters_[number].range.first + child);
        for (std::size_t i = already; i < trains.size(); ++i) {
            const Cluster& c = clusters_[sender(number, i)];
            if (c.bytes == 0) continue;
            const MessageTimes piece = piece_of(c, from, to);
            const double each = std::max(piece.flow, static_cast<double>(children) * piece.port_out);
            const double begin = std::max(free, trains[i].first);
            free = std::max(begin + c.pieces * each, trains[i].last + each);
            trains[i] = {begin + each + piece.latency, free + piece.latency};
        }
    }

    /// All ranks of the fullest host have what comes to its leader.
    double spread(std::size_t number, int fullest, const std::vector<Train>& trains) {
        double memory = 0;
        double last = 0;
        for (std::size_t i = 0; i < trains.size(); ++i) {
            const Cluster& c = clusters_[sender(number, i)];
            if (c.bytes == 0) continue;
            const HostTime piece = times_.on_host(fullest, c.piece, {.down = true});
            memory =
                std::max(std::max(memory, trains[i].first) + (c.pieces - 1) * piece.interval, trains[i].last);
            last = std::max(last, memory + piece.first);
            memory += piece.interval;
        }
        return last;
    }

    double last_in(std::size_t number) {
        const Cluster& c = clusters_[number];
        int fullest = c.range.first;
        for (int member = c.range.first; member < c.range.end; ++member) {
            if (times_.ranks_on_host(member) > times_.ranks_on_host(fullest)) fullest = member;
        }
        const bool is_ring = !around_.empty();
        std::vector<Train> trains = is_ring ? around_[number] : trains_at(number, c.range.first);
        if (!is_ring) trains.front() = c.has;
        double last = spread(number, fullest, trains);
        for (int node = 0; !c.links.children[at(node)].empty(); node = c.links.children[at(node)].front()) {
            const auto& children = c.links.children[at(node)];
            const bool has_sent_own = node == 0 && !is_ring;
            const std::size_t others = node == 0 && is_ring ? 1 : 0;  // the next leader
            pass_on(number, node, children.front(), children.size() + others, node == 0 ? c.free : 0,
                    has_sent_own ? 1 : 0, trains);
            if (has_sent_own) trains.front() = trains_at(number, c.range.first + children.front()).front();
            last = std::max(last, spread(number, fullest, trains));
        }
        return last;
    }

    MemberTimes times_;
    std::vector<Cluster> clusters_;
    std::vector<NetworkClock::Message>
        sent_;                   // to leaders, and of what a cluster has to the children of its own
    std::vector<double> ahead_;  // of each: from its first byte to its first piece
    std::vector<std::vector<Train>>
        around_;  // by cluster: what its leader has, in the order in which it comes
};

std::optional<Candidate> LeaderExchange::price(Pricing& pricing) const {
    return price(pricing, ExchangeTimes(pricing));
}

Candidate LeaderExchange::price(Pricing& pricing, const ExchangeTimes& begun) const {
    Candidate candidate;
    const RingOrder order = way_ == Way::ring ? ring_order(pricing) : RingOrder();
    candidate.algorithm = std::make_shared<LeaderExchange>(way_, within_, segment_bytes_, order);
    candidate.seconds = ExchangeTimes(begun, within_, segment_bytes_, order).seconds(way_);
    candidate.time.first = candidate.time.last = candidate.seconds;
    // Messages of one size only: pieces are as many as in multi-leader-exchange, or more.
    candidate.crossings = (pricing.clusters() - 1) * (segment_bytes_ > 0 ? pricing.largest_cluster() : 1);
    candidate.hops = pricing.hops_in(within_);
    return candidate;
}

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    const bool is_ring = name.first() == name_of(Way::ring);
    if (!is_ring && name.first() != name_of(Way::all_at_once)) return nullptr;
    if (name.levels.size() != 2 || name.lanes > 1)
        refuse_name(name, "it takes one level below it, and no lanes");
    const auto within = shape_named(name.last());
    if (!within) refuse_name(name, "its level is a tree, without a rule or leaders");
    return std::make_shared<LeaderExchange>(is_ring ? Way::ring : Way::all_at_once, *within,
                                            name.segment_bytes);
}

void propose(Pricing& pricing, std::vector<Candidate>& found) {
    constexpr std::array<Bytes, 2> kSegments{8 * 1024, 64 * 1024};
    const ExchangeTimes begun(pricing);
    const Bytes all = bytes_of_result(pricing.request(), pricing.machine());
    for (const Shape within : {kBinomialShape, kFlatShape, kBinaryShape})
        found.push_back(LeaderExchange(Way::all_at_once, within, 0).price(pricing, begun));
    for (const Bytes segment_bytes : kSegments) {
        if (2 * segment_bytes > all) continue;
        for (const Shape within : {kBinaryShape, kChainShape}) {
            found.push_back(LeaderExchange(Way::all_at_once, within, segment_bytes).price(pricing, begun));
            if (pricing.clusters() > 2)
                found.push_back(LeaderExchange(Way::ring, within, segment_bytes).price(pricing, begun));
        }
    }
}

}  // namespace

std::vector<Region> gather_apart(const Part& part, ScheduleBuilder& builder) {
    ExchangeSteps exchange(part, builder, Way::all_at_once, kBinomialShape, 0, {}, {.is_apart = true});
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
