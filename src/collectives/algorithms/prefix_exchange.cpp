// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/prefix_exchange.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/index.hpp"
#include "collectives/algorithms/hop_load.hpp"
#include "collectives/algorithms/prefix_steps.hpp"
#include "collectives/cost/network_clock.hpp"

namespace laple {
namespace {

/// The last ranks of the hosts of a cluster, and of the clusters, in their order.
std::vector<Rank> leaders_of_hosts(const Machine& machine, int cluster) {
    std::vector<Rank> leaders;
    for (const Host host : machine.hosts_in(cluster)) leaders.push_back(machine.ranks_on(host).back());
    std::sort(leaders.begin(), leaders.end());
    return leaders;
}
std::vector<Rank> leaders_of_clusters(const Machine& machine) {
    std::vector<Rank> leaders;
    for (int cluster = 0; cluster < machine.cluster_count(); ++cluster)
        leaders.push_back(leaders_of_hosts(machine, cluster).back());
    std::sort(leaders.begin(), leaders.end());
    return leaders;
}

/// To how many others a leader sends in a round, and one more; of `count` leaders.
std::size_t radix_of(Shape shape, std::size_t count) {
    return shape.kind == Shape::Kind::kary ? static_cast<std::size_t>(shape.arity)
                                           : std::max<std::size_t>(count, 2);
}

/// The steps of one rank.
class ExchangeSteps {
  public:
    ExchangeSteps(const Part& part, ScheduleBuilder& builder, const Segments& segments, Shape between)
        : part_(part),
          builder_(builder),
          between_(between),
          prefix_(part, builder, segments),
          ranks_(part.machine.ranks_on(part.machine.host_of(part.rank))),
          leaders_(leaders_of_hosts(part.machine, part.machine.cluster_of_rank(part.rank))),
          clusters_(leaders_of_clusters(part.machine)) {}

    void write(Segment segment) {
        segment_ = segment;
        prefix_.begin(segment);
        const std::size_t place = place_in(ranks_, part_.rank);
        if (place > 0) prefix_.add_from(ranks_[place - 1], kOnHost);
        if (part_.rank != ranks_.back()) prefix_.send(ranks_[place + 1], kOnHost);
        const bool is_first = ranks_.back() == leaders_.front() && leaders_.back() == clusters_.front();
        if (part_.rank == ranks_.back()) {
            lead();
        } else if (!is_first) {
            prefix_.add_from(ranks_.back(), kToAll);
        }
    }

  private:
    static constexpr Channel kOnHost = contributions(0);
    static constexpr Channel kInCluster = contributions(1);
    static constexpr Channel kBetween = contributions(2);
    static constexpr Channel kToAll = results(0);

    template <typename Ranks>
    static std::size_t place_in(const Ranks& ranks, Rank rank) {
        return static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
    }

    void lead() {
        std::optional<Region> offset = exchange(leaders_, Shape(), kInCluster);
        if (leaders_.back() != clusters_.front()) {
            const std::optional<Region> far = offset_of_cluster();
            if (offset) {
                builder_.reduce(*far, offset->place());
            } else {
                offset = far;
            }
        } else if (part_.rank == leaders_.back()) {
            exchange(clusters_, between_, kBetween);
        }
        if (!offset) return;
        for (std::size_t i = 0; i + 1 < ranks_.size(); ++i) builder_.send(ranks_[i], *offset, kToAll);
    }

    /// What all earlier clusters have; not in the first cluster.
    std::optional<Region> offset_of_cluster() {
        if (part_.rank != leaders_.back()) {
            const Region far = prefix_.receive(leaders_.back(), kToAll);
            prefix_.add(far);
            return far;
        }
        const std::optional<Region> far = exchange(clusters_, between_, kBetween);
        for (std::size_t i = 0; i + 1 < leaders_.size(); ++i) builder_.send(leaders_[i], *far, kToAll);
        return far;
    }

    /// Each of `leaders` sends what its run has to later ones, and then what it has got with it. Returns what
    /// all earlier ones have, which is added; nothing for the first one.
    std::optional<Region> exchange(const std::vector<Rank>& leaders, Shape shape, Channel channel) {
        const std::size_t place = place_in(leaders, part_.rank);
        const std::size_t radix = radix_of(shape, leaders.size());
        std::optional<Region> all;
        for (std::size_t distance = 1; distance < leaders.size(); distance *= radix) {
            for (std::size_t i = 1; i < radix && place + i * distance < leaders.size(); ++i)
                prefix_.send(leaders[place + i * distance], channel);
            if (place < distance) continue;
            // The nearest one first: each that comes is the left operand.
            const Region sum{builder_.add_temporary(segment_.units), 0, segment_.units};
            builder_.recv(leaders[place - distance], sum, channel);
            for (std::size_t i = 2; i < radix && place >= i * distance; ++i)
                builder_.reduce(prefix_.receive(leaders[place - i * distance], channel), sum.place());
            prefix_.add(sum);
            if (all) {
                builder_.reduce(sum, all->place());
            } else {
                all = sum;
            }
        }
        return all;
    }

    const Part& part_;
    ScheduleBuilder& builder_;
    Shape between_;
    Segment segment_;
    Prefix prefix_;
    std::span<const Rank> ranks_;  // of this host
    std::vector<Rank> leaders_;    // of the hosts of this cluster
    std::vector<Rank> clusters_;   // leaders of the clusters
};

class PrefixExchange final : public Algorithm {
  public:
    explicit PrefixExchange(Shape between = Shape(), Bytes segment_bytes = 0)
        : between_(between), segment_bytes_(segment_bytes) {}

    std::string name() const override {
        std::string name(kPrefixExchange);
        if (between_ != Shape()) name.append("/").append(name_of(between_));
        return name + name_suffix(segment_bytes_, 1);
    }
    std::string in_words() const override {
        return between_ == Shape()
                   ? "hosts and clusters send what they have to all later ones, and pass on what comes"
                   : "hosts send what they have to all later ones, and clusters to some in each round";
    }
    Bytes segment_bytes() const override { return segment_bytes_; }
    std::string needs() const override { return "needs hosts and clusters of consecutive ranks"; }
    bool can_do(const Request&, const Machine& machine) const override {
        return machine.has_consecutive_ranks();
    }

    std::optional<Candidate> price(Pricing& pricing) const override;

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        const Segments parts = segments(part.request);
        ExchangeSteps steps(part, builder, parts, between_);
        for (std::uint32_t i = 0; i < parts.count(); ++i) steps.write(parts.at(i));
    }

  private:
    Shape between_;
    Bytes segment_bytes_;
};

/// The rounds between clusters, for one segment.
struct RoundTimes {
    double seconds = 0;  // until all have all
    double busiest = 0;  // of what a port has to serve in all rounds
    double link = 0;     // of what an uplink, a trunk or a connection has
    double ramp = 0;     // of connections whose messages are cut: what the slowest takes more to begin
    int rounds = 0;
    int messages = 0;
};

/// Each leader sends when it has what the round before has brought.
RoundTimes times_of_rounds(const Pricing& pricing, Shape shape, Bytes bytes, bool is_cut) {
    const Machine& machine = pricing.machine();
    const MachineCosts& costs = pricing.costs();
    std::vector<int> clusters = all_below(at(machine.cluster_count()));
    std::sort(clusters.begin(), clusters.end(),
              [&](int a, int b) { return machine.ranks_in(a).front() < machine.ranks_in(b).front(); });
    const std::size_t count = clusters.size();
    const std::size_t radix = radix_of(shape, count);
    NetworkClock clock(all_below(at(costs.count())), machine, costs);
    const auto whole = static_cast<double>(pricing.request().bytes());
    std::vector<double> ready(count, 0);
    std::vector<double> out(count, 0);  // when the port is free
    std::vector<double> in(count, 0);
    std::vector<double> work_out(count, 0);  // for so long it is not
    std::vector<double> work_in(count, 0);
    std::vector<double> uplink_out(count, 0);  // when it is free
    std::vector<double> uplink_in(count, 0);
    std::vector<double> load_out(count, 0);  // of uplinks
    std::vector<double> load_in(count, 0);
    std::map<std::pair<int, int>, double> trunk_free;  // between groups
    std::map<std::pair<int, int>, double> load_trunk;
    RoundTimes result;
    for (std::size_t distance = 1; distance < count; distance *= radix) {
        for (std::size_t i = 1; i < radix; ++i) {
            for (std::size_t from = 0; from + i * distance < count; ++from) {
                const std::size_t to = from + i * distance;
                const MessageTimes& times = clock.times(at(clusters[from]), at(clusters[to]), bytes, is_cut);
                const bool is_far = clusters[from] != clusters[to] && bytes > 0;
                const double whole_ramp =
                    is_far ? costs.ramp(times.latency, whole, times.flow / static_cast<double>(bytes)) : 0;
                const double ramp = is_cut ? 0 : whole_ramp;
                if (is_cut) result.ramp = std::max(result.ramp, whole_ramp);
                const double start = std::max(ready[from], out[from]);
                out[from] = start + times.port_out;
                uplink_out[from] = std::max(uplink_out[from], start) + times.uplink_out;
                uplink_in[to] = std::max(uplink_in[to], start + times.latency) + times.uplink_in;
                const std::pair groups{machine.group_of(clusters[from]), machine.group_of(clusters[to])};
                double& trunk = trunk_free[groups];
                trunk = std::max(trunk, start) + times.trunk;
                in[to] = std::max({in[to] + times.port_in, start + times.alone() + ramp,
                                   uplink_out[from] + times.latency, trunk + times.latency, uplink_in[to]});
                work_out[from] += times.port_out;
                work_in[to] += times.port_in;
                load_out[from] += times.uplink_out;
                load_in[to] += times.uplink_in;
                load_trunk[groups] += times.trunk;
                result.link = std::max({result.link, times.flow, load_trunk[groups]});
                ++result.messages;
            }
        }
        for (std::size_t place = 0; place < count; ++place) ready[place] = std::max(ready[place], in[place]);
        ++result.rounds;
    }
    for (std::size_t place = 0; place < count; ++place) {
        result.seconds = std::max(result.seconds, ready[place]);
        result.busiest = std::max({result.busiest, work_out[place], work_in[place]});
        result.link = std::max({result.link, load_out[place], load_in[place]});
    }
    return result;
}

/// The first segment, and the others as the busiest ports and links let them.
std::optional<Candidate> PrefixExchange::price(Pricing& pricing) const {
    const Machine& machine = pricing.machine();
    const MachineCosts& costs = pricing.costs();
    const auto segments = static_cast<double>(pricing.segments(segment_bytes_));
    const Bytes segment = this->segments(pricing.request()).segment_bytes();
    const auto bytes = static_cast<double>(segment);
    HopLoad inside(machine, costs);
    HopLoad spread(machine, costs);
    double on_host = 0;  // until a segment has been through a host
    double copies = 0;   // that a host's memory makes for each
    double combining = 0;
    double own_combining = 0;  // of one rank
    for (int a = 0; a < costs.count(); ++a) {
        const auto others = static_cast<double>(machine.hosts_in(a).size() - 1);
        inside.add(a, a, bytes, others, others, others * (others + 1) / 2);
        if (machine.ranks_in(a).front() > 0) spread.add(a, a, bytes, others, 1, others);
        const double ranks = machine.most_ranks_on_a_host(a);
        const MachineCosts::Link& memory = costs.cluster(a).memory;
        const double copy = memory.gap.at(segment).count();
        if (ranks > 1)
            on_host = std::max(on_host, (ranks - 1) * (2 * copy + memory.latency) + memory.latency);
        copies = std::max(copies, (ranks - 1) * copy);
        const double each = costs.cluster(a).reduction * bytes;
        combining = std::max(combining, each * (ranks + others + costs.count()));
        own_combining = std::max(own_combining, each * (2 + others + costs.count()));
    }
    const RoundTimes between = times_of_rounds(pricing, between_, segment, segments > 1);
    Candidate candidate;
    candidate.algorithm = std::make_shared<PrefixExchange>(between_, segment_bytes_);
    candidate.time.first = inside.seconds() + between.seconds + spread.seconds() + on_host + combining;
    // What comes from the cluster and from others, and what goes out to both.
    const double ports = between.busiest + std::max(inside.busiest_port(), spread.busiest_port());
    candidate.time.interval = std::max({ports, between.link, copies}) + own_combining;
    candidate.time.last = candidate.time.first + between.ramp + (segments - 1) * candidate.time.interval;
    candidate.time.sustained = segments * candidate.time.interval;
    candidate.seconds = candidate.time.last;
    candidate.crossings = between.messages;
    candidate.hops = between.rounds + 1;
    candidate.is_pipeline = segments > 1;
    return candidate;
}

}  // namespace

AlgorithmPtr parse_prefix_exchange(const AlgorithmName& name) {
    if (name.levels.size() == 1) return std::make_shared<PrefixExchange>(Shape(), name.segment_bytes);
    const std::optional<Shape> between = shape_named(name.last());
    if (name.levels.size() > 2 || !between ||
        (between->kind != Shape::Kind::kary && between->kind != Shape::Kind::flat))
        refuse_name(name, "between clusters it is flat, binary, 3ary ... 64ary");
    return std::make_shared<PrefixExchange>(*between, name.segment_bytes);
}

void propose_prefix_exchanges(Pricing& pricing, std::vector<Candidate>& found) {
    const int clusters = pricing.machine().cluster_count();
    constexpr Bytes kMostSegments = 64;  // each takes memory in each round; longer messages have the chain
    const Bytes bytes = pricing.request().bytes();
    std::vector<Bytes> segments{0};
    if (const Bytes segment = pricing.paced_segment(bytes, 1);
        segment > 0 && bytes / segment <= kMostSegments)
        segments.push_back(segment);
    for (const Bytes segment : segments) {
        found.push_back(*PrefixExchange(Shape(), segment).price(pricing));
        for (const int arity : {2, 4}) {
            if (clusters <= arity) continue;
            const Shape shape{Shape::Kind::kary, arity};
            found.push_back(*PrefixExchange(shape, segment).price(pricing));
        }
    }
}

}  // namespace laple
