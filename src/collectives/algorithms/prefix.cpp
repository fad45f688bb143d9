// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan: each rank gets what the ranks up to it have contributed, combined; in an exscan without
// its own.
//
//     prefix-chain[@SEGMENT]   0 ─► 1 ─► 2 ─► ...  each adds its own and passes it on: no port carries more
//                                                  than the message, but latencies add up
//
//     prefix-gather       all contributions go to all ranks (leader_exchange.cpp), which combine what they
//     need
//
//     prefix-exchange[/SHAPE][@SEGMENT]
//
//                         0 ─► 1 ┬──────► 3 ┬─►    a chain on each host; its last rank sends what the host
//                                           │      has to the later hosts of the cluster, and the last rank
//                         2 ─► 3 ┘ cluster  │      of a cluster what that has to all later clusters: one
//                         4 ─► 5 ┬──────► 7 ◄┘     latency between clusters. What comes is passed on to all.
//                         6 ─► 7 ┘
//
//     /binary, /4ary ...  between clusters in rounds: to the next one (of 4ary: the next three), then what
//                         two (four) have to those two (four, eight, twelve) farther on, and so on: more
//                         latencies, but each port carries less
//
// All keep the order of the ranks. prefix-exchange needs hosts and clusters that are runs of them.
//
// (Karonis et al., "MPICH-G2", JPDC 2003, for levels; Sanders, Speck and Träff, 2009, for the pipeline;
// Hillis and Steele, "Data Parallel Algorithms", CACM 1986, for the rounds)
#include <algorithm>
#include <optional>
#include <utility>

#include "base/index.hpp"
#include "collectives/algorithms/hop_load.hpp"
#include "collectives/algorithms/leader_exchange.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/algorithms/tree_steps.hpp"
#include "collectives/cost/network_clock.hpp"

namespace laple {
namespace {

constexpr std::string_view kChain = "prefix-chain";
constexpr std::string_view kGather = "prefix-gather";
constexpr std::string_view kExchange = "prefix-exchange";

/// What a rank knows of the ranks before it, segment by segment: what they and it have contributed, combined,
/// which it passes on, and its result.
class Prefix {
  public:
    Prefix(const Part& part, ScheduleBuilder& builder, const Segments& segments)
        : builder_(builder),
          slots_(segments, builder),
          is_exclusive_(row_of(part.request.collective).excludes_own) {
        if (is_exclusive_) inclusive_ = builder.add_temporary(part.request.units);
    }

    void begin(Segment segment) {
        segment_ = segment;
        has_result_ = !is_exclusive_;
        builder_.copy(region_in(kInput, segment), inclusive().place());
    }

    /// With what `rank` sends, which comes before all that is known here.
    void add_from(Rank rank, Channel channel) {
        if (is_exclusive_ && !has_result_) {
            builder_.recv(rank, result(), channel);
            builder_.reduce(result(), inclusive().place());
        } else {
            add(receive(rank, channel));
        }
        has_result_ = true;
    }
    /// The same of what is here already.
    void add(Region earlier) {
        builder_.reduce(earlier, inclusive().place());
        if (is_exclusive_ && has_result_) builder_.reduce(earlier, result().place());
        if (is_exclusive_ && !has_result_) builder_.copy(earlier, result().place());
        has_result_ = true;
    }

    void send(Rank rank, Channel channel) { builder_.send(rank, inclusive(), channel); }
    Region receive(Rank rank, Channel channel) {
        const Region slot = slots_.next(rank, segment_.units);
        builder_.recv(rank, slot, channel);
        return slot;
    }

  private:
    Region inclusive() const { return region_in(is_exclusive_ ? inclusive_ : kResult, segment_); }
    Region result() const { return region_in(kResult, segment_); }

    ScheduleBuilder& builder_;
    ReceiveSlots slots_;
    bool is_exclusive_;
    Buffer inclusive_ = kResult;
    Segment segment_;
    bool has_result_ = false;
};

class PrefixChain final : public Algorithm {
  public:
    explicit PrefixChain(Bytes segment_bytes) : segment_bytes_(segment_bytes) {}

    std::string name() const override { return std::string(kChain) + name_suffix(segment_bytes_, 1); }
    std::string in_words() const override { return "each rank adds its own and passes it on to the next"; }
    Bytes segment_bytes() const override { return segment_bytes_; }
    bool can_do(const Request&, const Machine&) const override { return true; }

    std::optional<Candidate> price(Pricing& pricing) const override;

    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        const Segments parts = segments(part.request);
        Prefix prefix(part, builder, parts);
        for (std::uint32_t i = 0; i < parts.count(); ++i) {
            prefix.begin(parts.at(i));
            if (part.rank > 0) prefix.add_from(part.rank - 1, 0);
            if (part.rank + 1 < part.machine.rank_count()) prefix.send(part.rank + 1, 0);
        }
    }

  private:
    Bytes segment_bytes_;
};

/// The first segment passes all ranks, the others follow as the slowest link lets them.
std::optional<Candidate> PrefixChain::price(Pricing& pricing) const {
    const Machine& machine = pricing.machine();
    const MachineCosts& costs = pricing.costs();
    const auto segments = static_cast<double>(pricing.segments(segment_bytes_));
    const Bytes bytes = this->segments(pricing.request()).segment_bytes();
    NetworkClock clock(all_below(at(costs.count())), machine, costs);
    Candidate candidate;
    candidate.algorithm = std::make_shared<PrefixChain>(segment_bytes_);
    double interval = 0;
    for (Rank rank = 0; rank + 1 < machine.rank_count(); ++rank) {
        const int from = machine.cluster_of_rank(rank);
        const int to = machine.cluster_of_rank(rank + 1);
        double each = costs.cluster(to).reduction * static_cast<double>(bytes);
        if (machine.host_of(rank) == machine.host_of(rank + 1)) {
            const MachineCosts::Link& memory = costs.cluster(from).memory;
            each += memory.gap.at(bytes).count();
            candidate.time.first += each + memory.latency;
        } else {
            const MessageTimes& times = clock.times(at(from), at(to), bytes, segments > 1);
            const double seconds_a_byte = times.flow / std::max(static_cast<double>(bytes), 1.0);
            candidate.time.first += each + times.alone();
            if (from != to)
                candidate.time.first +=
                    costs.ramp(times.latency, static_cast<double>(pricing.request().bytes()), seconds_a_byte);
            each += times.interval() + costs.time_at_work(from);
            candidate.crossings += from != to ? 1 : 0;
        }
        interval = std::max(interval, each);
    }
    candidate.time.interval = interval;
    candidate.time.last = candidate.time.first + (segments - 1) * interval;
    candidate.time.sustained = segments * interval;
    candidate.seconds = candidate.time.last;
    candidate.hops = machine.rank_count() - 1;
    candidate.is_pipeline = true;
    return candidate;
}

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
        std::string name(kExchange);
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
    RoundTimes result;
    for (std::size_t distance = 1; distance < count; distance *= radix) {
        for (std::size_t i = 1; i < radix; ++i) {
            for (std::size_t from = 0; from + i * distance < count; ++from) {
                const std::size_t to = from + i * distance;
                const MessageTimes& times = clock.times(at(clusters[from]), at(clusters[to]), bytes, is_cut);
                const double ramp =
                    is_cut || bytes == 0
                        ? 0
                        : costs.ramp(times.latency, whole, times.flow / static_cast<double>(bytes));
                const double start = std::max(ready[from], out[from]);
                out[from] = start + times.port_out;
                in[to] = std::max(in[to] + times.port_in, start + times.alone() + ramp);
                work_out[from] += times.port_out;
                work_in[to] += times.port_in;
                ++result.messages;
            }
        }
        for (std::size_t place = 0; place < count; ++place) ready[place] = std::max(ready[place], in[place]);
        ++result.rounds;
    }
    for (std::size_t place = 0; place < count; ++place) {
        result.seconds = std::max(result.seconds, ready[place]);
        result.busiest = std::max({result.busiest, work_out[place], work_in[place]});
    }
    return result;
}

/// The first segment, and the others as the busiest ports let them.
std::optional<Candidate> PrefixExchange::price(Pricing& pricing) const {
    const Machine& machine = pricing.machine();
    const MachineCosts& costs = pricing.costs();
    const auto segments = static_cast<double>(pricing.segments(segment_bytes_));
    const Bytes segment = this->segments(pricing.request()).segment_bytes();
    const auto bytes = static_cast<double>(segment);
    HopLoad inside(machine, costs);
    HopLoad spread(machine, costs);
    double on_host = 0;
    double combining = 0;
    for (int a = 0; a < costs.count(); ++a) {
        const auto others = static_cast<double>(machine.hosts_in(a).size() - 1);
        inside.add(a, a, bytes, others, others, others * (others + 1) / 2);
        if (machine.ranks_in(a).front() > 0) spread.add(a, a, bytes, others, 1, others);
        const double ranks = machine.most_ranks_on_a_host(a);
        const MachineCosts::Link& memory = costs.cluster(a).memory;
        const double copy = memory.gap.at(segment).count();
        if (ranks > 1)
            on_host = std::max(on_host, (ranks - 1) * (2 * copy + memory.latency) + memory.latency);
        combining =
            std::max(combining, costs.cluster(a).reduction * bytes * (ranks + others + costs.count()));
    }
    const RoundTimes between = times_of_rounds(pricing, between_, segment, segments > 1);
    Candidate candidate;
    candidate.algorithm = std::make_shared<PrefixExchange>(between_, segment_bytes_);
    candidate.time.first = inside.seconds() + between.seconds + spread.seconds() + on_host + combining;
    candidate.time.interval =
        inside.busiest_port() + between.busiest + spread.busiest_port() + on_host + combining;
    candidate.time.last = candidate.time.first + (segments - 1) * candidate.time.interval;
    candidate.time.sustained = segments * candidate.time.interval;
    candidate.seconds = candidate.time.last;
    candidate.crossings = between.messages;
    candidate.hops = between.rounds + 1;
    candidate.is_pipeline = segments > 1;
    return candidate;
}

class PrefixGather final : public Algorithm {
  public:
    std::string name() const override { return std::string(kGather); }
    std::string in_words() const override {
        return "all contributions go to all ranks, which combine what they need";
    }
    std::string needs() const override {
        return "needs contributions that fit into LAPLE_BLOCK_MEMORY of a rank together";
    }
    bool can_do(const Request& request, const Machine& machine) const override {
        return at(machine.rank_count()) * request.bytes() <= machine.block_memory();
    }

    std::optional<Candidate> price(Pricing& pricing) const override {
        const Request gathered = gathering(pricing.request());
        Pricing of_gathering(gathered, pricing.machine(), pricing.costs());
        auto candidate =
            parse_algorithm("leader-exchange/binomial", gathered.collective)->price(of_gathering);
        candidate->algorithm = std::make_shared<PrefixGather>();
        double combining = 0;
        for (int c = 0; c < pricing.clusters(); ++c)
            combining = std::max(combining, pricing.costs().cluster(c).reduction);
        candidate->time.last +=
            combining * static_cast<double>(at(pricing.machine().rank_count()) * pricing.request().bytes());
        candidate->seconds = candidate->time.last;
        return candidate;
    }

    /// The nearest one first: each that comes is the left operand.
    void write_steps(const Part& part, ScheduleBuilder& builder) const override {
        const Request gathered = gathering(part.request);
        const auto contributions = gather_apart({gathered, part.machine, part.windows, part.rank}, builder);
        const bool excludes_own = row_of(part.request.collective).excludes_own;
        Rank next = excludes_own ? part.rank - 1 : part.rank;
        if (next < 0) return;
        builder.copy(next == part.rank ? Region{kInput, 0, part.request.units} : contributions[at(next)],
                     {kResult, 0});
        while (next-- > 0) builder.reduce(contributions[at(next)], {kResult, 0});
    }

  private:
    static Request gathering(const Request& request) {
        Request gathered = request;
        gathered.collective = Collective::allgather;
        return gathered;
    }
};

AlgorithmPtr parse_exchange(const AlgorithmName& name) {
    if (name.levels.size() == 1) return std::make_shared<PrefixExchange>(Shape(), name.segment_bytes);
    const std::optional<Shape> between = shape_named(name.last());
    if (name.levels.size() > 2 || !between ||
        (between->kind != Shape::Kind::kary && between->kind != Shape::Kind::flat))
        refuse_name(name, "between clusters it is flat, binary, 3ary ... 64ary");
    return std::make_shared<PrefixExchange>(*between, name.segment_bytes);
}

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    if (name.first() != kChain && name.first() != kExchange && name.first() != kGather) return nullptr;
    if (name.lanes > 1) refuse_name(name, "it takes no lanes");
    if (name.first() == kExchange) return parse_exchange(name);
    if (name.levels.size() > 1) refuse_name(name, "it takes no levels");
    if (name.first() == kChain) return std::make_shared<PrefixChain>(name.segment_bytes);
    if (name.segment_bytes > 0) refuse_name(name, "it takes no segments");
    return std::make_shared<PrefixGather>();
}

void propose_exchanges(Pricing& pricing, std::vector<Candidate>& found) {
    const int clusters = pricing.machine().cluster_count();
    std::vector<Bytes> segments{0};
    if (const Bytes segment = pricing.paced_segment(pricing.request().bytes(), 1); segment > 0)
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

/// Where hosts and clusters are runs of ranks, less goes between them as partial results than as it came.
void propose(Pricing& pricing, std::vector<Candidate>& found) {
    constexpr Bytes kMostGathered = 1 << 20;
    const Request& request = pricing.request();
    const Machine& machine = pricing.machine();
    if (PrefixExchange().can_do(request, machine)) {
        propose_exchanges(pricing, found);
    } else if (at(machine.rank_count()) * request.bytes() <= kMostGathered) {
        found.push_back(*PrefixGather().price(pricing));
    }
    found.push_back(*PrefixChain(0).price(pricing));
    for (const Bytes segment : pricing.segment_sizes()) found.push_back(*PrefixChain(segment).price(pricing));
}

}  // namespace

Family prefix_family() {
    return {.name = "prefix",
            .grammar = "prefix-chain[@SEGMENT], prefix-exchange[/SHAPE][@SEGMENT], prefix-gather",
            .summary = "each rank adds its own and passes it on, or hosts and clusters swap what they have",
            .source = "Hillis, Steele, 1986; MPICH-G2, 2003; Sanders, Speck, Träff, 2009",
            .is_for = is_prefix,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
