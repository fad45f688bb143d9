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
// (Kielmann et al., "MagPIe", PPoPP'99; Träff, "Efficient allgather for regular SMP-clusters", 2006)
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "collectives/algorithms/host_members.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

constexpr std::string_view kName = "leader-exchange";

/// The steps of one rank. Those that lead no host only take part in what happens on theirs.
class ExchangeSteps {
  public:
    ExchangeSteps(const Part& part, ScheduleBuilder& builder, Shape within, Bytes segment_bytes)
        : part_(part),
          segment_bytes_(segment_bytes),
          steps_(part, builder),
          ranges_(member_ranges(clusters_of_members(part.request, part.machine))) {
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
        if (is_leader && parent_ < 0) {
            // Each starts with its right neighbour, so that not all send to the same leader first.
            for (std::size_t i = 1; i < ranges_.size(); ++i) {
                const int peer = ranges_[(own_ + i) % ranges_.size()].first;
                for_each_segment(ranges_[own_], [&](Segment part) { steps_.send(peer, part); });
            }
        }
        for (std::size_t i = 0; i < ranges_.size(); ++i) {
            const MemberRange from = ranges_[(own_ + ranges_.size() - i) % ranges_.size()];
            for_each_segment(from, [&](Segment part) {
                if (is_leader && parent_ < 0 && i > 0) steps_.recv(from.first, part);
                pass_on(part);
            });
        }
    }

  private:
    int self() const { return steps_.members().self(); }

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
    Bytes segment_bytes_;
    MemberSteps steps_;
    std::vector<MemberRange> ranges_;
    std::size_t own_ = 0;  // of ranges_
    int parent_ = -1;      // members of the own cluster
    std::vector<int> children_;
};

class LeaderExchange final : public Algorithm {
  public:
    LeaderExchange(Shape within, Bytes segment_bytes) : within_(within), segment_bytes_(segment_bytes) {}

    std::string name() const override {
        return fmt::format("{}/{}{}", kName, name_of(within_), name_suffix(segment_bytes_, 1));
    }
    std::string in_words() const override { return "leaders of clusters swap what their clusters have"; }
    Bytes segment_bytes() const override { return segment_bytes_; }
    bool can_do(const Request&, const Machine&) const override { return true; }

    std::optional<Candidate> price(Pricing& pricing) const override;

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        ExchangeSteps(part, builder, within_, segment_bytes_).write();
    }

  private:
    Shape within_;
    Bytes segment_bytes_;
};

/// When each cluster has everything:
///
///     ready(c)   all blocks of c are at its leader: it receives them one after the other
///     there(c)   max over d of ready(d) + the port's time for what d sends, or the flow's + L(d, c); not
///     before
///                the leader's port and the uplink have taken all
///     last(c)    there(c), not before the leader's port has sent all to its children and the others;
///                + depth (g(s) + L) for the last segment on its way down the tree
class ExchangePrice {
  public:
    ExchangePrice(Pricing& pricing, Shape within, Bytes segment_bytes)
        : costs_(pricing.costs()), within_(within), segment_bytes_(segment_bytes) {
        const auto cluster_of = clusters_of_members(pricing.request(), pricing.machine());
        const Machine& machine = pricing.machine();
        for (const MemberRange range : member_ranges(cluster_of)) {
            const int cluster = cluster_of[static_cast<std::size_t>(range.first)];
            const Bytes bytes = bytes_of_blocks(pricing.request(), machine.ranks_in(cluster));
            clusters_.push_back({cluster, range.count(), bytes});
            all_ += clusters_.back().bytes;
        }
        const double on_host = time_on_hosts(bytes_of_member(pricing.request(), machine), machine, costs_);
        for (Cluster& c : clusters_) {
            const Bytes of_host = c.bytes / static_cast<Bytes>(c.hosts);
            c.ready = on_host;
            if (c.hosts > 1) c.ready += inside(c).latency + (c.hosts - 1) * inside(c).gap.at(of_host).count();
        }
        spread_ = time_on_hosts(all_, machine, costs_);
    }

    double seconds() const {
        double last = 0;
        for (std::size_t c = 0; c < clusters_.size(); ++c) last = std::max(last, last_in(c));
        return last + spread_;
    }

  private:
    struct Cluster {
        int number;
        int hosts;
        Bytes bytes;
        double ready = 0;
    };

    double pieces(Bytes bytes) const {
        const Bytes size = segment_bytes_ == 0 ? bytes : segment_bytes_;
        return static_cast<double>((bytes + size - 1) / std::max<Bytes>(size, 1));
    }
    /// How long a flow takes for so many bytes.
    double flow(const MachineCosts::Link& link, Bytes bytes) const {
        const double several = pieces(bytes);
        return several > 1 ? several * link.stream.at(segment_bytes_).count() : link.gap.at(bytes).count();
    }
    /// How long a port of that rate is busy with it. (segment_times.hpp)
    double port(const MachineCosts::Link& link, double nic, Bytes bytes) const {
        const double whole = flow(link, bytes);
        return nic > 0 ? std::min(whole, pieces(bytes) * link.gap.at(0).count() + through(nic, bytes))
                       : whole;
    }
    static double through(double rate, Bytes bytes) {
        return rate > 0 ? static_cast<double>(bytes) / rate : 0;
    }
    const MachineCosts::Link& inside(const Cluster& c) const { return costs_.link(c.number, c.number); }
    double port_out(const Cluster& from, const Cluster& to) const {
        return port(costs_.link(from.number, to.number), costs_.cluster(from.number).nic_out, from.bytes);
    }

    /// The last of what d sends to c has left d: all that goes to others before it, or beside it, has too.
    double left(std::size_t d, std::size_t c) const {
        const std::size_t count = clusters_.size();
        const std::size_t before = costs_.shares_ports ? count - 1 : (c + count - d) % count;
        double busy = 0;
        for (std::size_t i = 1; i <= before; ++i) busy += port_out(clusters_[d], clusters_[(d + i) % count]);
        const MachineCosts::Link& link = costs_.link(clusters_[d].number, clusters_[c].number);
        return clusters_[d].ready + std::max(busy, flow(link, clusters_[d].bytes));
    }

    double there(std::size_t at) const {
        const Cluster& c = clusters_[at];
        double first = std::numeric_limits<double>::infinity();
        double there = 0;
        double in = 0;
        for (std::size_t d = 0; d < clusters_.size(); ++d) {
            if (d == at) continue;
            const Cluster& from = clusters_[d];
            const MachineCosts::Link& link = costs_.link(from.number, c.number);
            const auto bytes = static_cast<double>(from.bytes);
            first = std::min(first, from.ready + link.latency);
            in += port(link, costs_.cluster(c.number).nic_in, from.bytes);
            there = std::max(there, left(d, at) + link.latency +
                                        costs_.ramp(link.latency, bytes, flow(link, from.bytes) / bytes));
        }
        return std::max(there,
                        first + std::max(in, through(costs_.cluster(c.number).uplink_in, all_ - c.bytes)));
    }

    double last_in(std::size_t at) const {
        const Cluster& c = clusters_[at];
        double sent = 0;
        for (std::size_t d = 0; d < clusters_.size(); ++d) sent += d == at ? 0 : port_out(c, clusters_[d]);
        const double others = static_cast<double>(clusters_.size() - 1);
        const double uplink = c.ready + others * through(costs_.cluster(c.number).uplink_out, c.bytes);
        const double there = clusters_.size() > 1 ? this->there(at) : 0;
        if (c.hosts == 1) return std::max({c.ready, there, uplink});
        const ShapeLinks links = links_of(within_, c.hosts);
        std::vector<int> depth(links.parent.size(), 0);
        for (std::size_t i = 1; i < depth.size(); ++i)
            depth[i] = depth[static_cast<std::size_t>(links.parent[i])] + 1;
        const int deepest = *std::max_element(depth.begin(), depth.end());
        Bytes largest = 0;
        for (const Cluster& d : clusters_) largest = std::max(largest, d.bytes);
        const Bytes piece = segment_bytes_ == 0 ? largest : std::min(largest, segment_bytes_);
        const double last_piece = inside(c).gap.at(piece).count();
        double passed_on = 0;
        for (const Cluster& d : clusters_) passed_on += flow(inside(c), d.bytes);
        const auto children = static_cast<double>(links.children.front().size());
        const double out = c.ready + sent + children * passed_on - last_piece;
        return std::max({there, out, uplink}) + deepest * (inside(c).latency + last_piece);
    }

    const MachineCosts& costs_;
    Shape within_;
    Bytes segment_bytes_;
    std::vector<Cluster> clusters_;
    Bytes all_ = 0;
    double spread_ = 0;
};

std::optional<Candidate> LeaderExchange::price(Pricing& pricing) const {
    Candidate candidate;
    candidate.algorithm = std::make_shared<LeaderExchange>(within_, segment_bytes_);
    candidate.seconds = ExchangePrice(pricing, within_, segment_bytes_).seconds();
    candidate.time.first = candidate.time.last = candidate.seconds;
    candidate.crossings = pricing.clusters() - 1;
    candidate.hops = pricing.hops_in(within_);
    return candidate;
}

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    if (name.first() != kName) return nullptr;
    if (name.levels.size() != 2 || name.lanes > 1)
        refuse_name(name, "it takes one level below it, and no lanes");
    const auto within = shape_named(name.last());
    if (!within) refuse_name(name, "its level is a tree, without a rule or leaders");
    return std::make_shared<LeaderExchange>(*within, name.segment_bytes);
}

void propose(Pricing& pricing, std::vector<Candidate>& found) {
    constexpr std::array<Bytes, 3> kSegments{0, 8 * 1024, 64 * 1024};
    const Bytes all = bytes_of_result(pricing.request(), pricing.machine());
    for (const Bytes segment_bytes : kSegments) {
        if (2 * segment_bytes > all) continue;
        for (const Shape within : {kBinomialShape, kFlatShape, kBinaryShape, kChainShape})
            found.push_back(*LeaderExchange(within, segment_bytes).price(pricing));
    }
}

}  // namespace

Family leader_exchange_family() {
    return {.name = kName,
            .grammar = "leader-exchange/LEVEL[@SEGMENT]",
            .summary = "leaders of clusters swap what their clusters have, all at once",
            .source = "MagPIe, PPoPP'99; Träff, 2006",
            .is_for = is_gathered,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
