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
//     prefix-owners[@SEGMENT]
//
//                         a chain on each host; segments have an owner in every cluster, and those exchange
//                         (prefix_owners.hpp)
//
// All keep the order of the ranks. prefix-exchange needs hosts and clusters that are runs of them.
//
// (Karonis et al., "MPICH-G2", JPDC 2003, for levels; Sanders, Speck and Träff, 2009, for the pipeline;
// Hillis and Steele, "Data Parallel Algorithms", CACM 1986, for the rounds)
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "collectives/algorithms/block_memory.hpp"
#include "collectives/algorithms/leader_exchange.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/prefix_exchange.hpp"
#include "collectives/algorithms/prefix_owners.hpp"
#include "collectives/algorithms/prefix_steps.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/cost/network_clock.hpp"

namespace laple {
namespace {

constexpr std::string_view kChain = "prefix-chain";
constexpr std::string_view kGather = "prefix-gather";

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

/// What a segment's hops take of each port and link together: where ranks are dealt round hosts or clusters,
/// a chain comes by again and again.
class ChainLoads {
  public:
    explicit ChainLoads(const Machine& machine)
        : machine_(machine),
          out_(at(machine.host_count())),
          in_(out_),
          uplink_out_(at(machine.cluster_count())),
          uplink_in_(uplink_out_) {}

    void add(Rank from, Rank to, const MessageTimes& times, double at_work) {
        const int a = machine_.cluster_of_rank(from);
        const int b = machine_.cluster_of_rank(to);
        take(out_[at(machine_.host_of(from))], times.port_out + at_work);
        take(in_[at(machine_.host_of(to))], times.port_in);
        take(uplink_out_[at(a)], times.uplink_out);
        take(uplink_in_[at(b)], times.uplink_in);
        take(trunks_[{machine_.group_of(a), machine_.group_of(b)}], times.trunk);
    }
    double busiest() const { return busiest_; }

  private:
    void take(double& load, double more) { busiest_ = std::max(busiest_, load += more); }

    const Machine& machine_;
    std::vector<double> out_;  // ports of hosts
    std::vector<double> in_;
    std::vector<double> uplink_out_;  // of clusters
    std::vector<double> uplink_in_;
    std::map<std::pair<int, int>, double> trunks_;
    double busiest_ = 0;
};

/// The first segment passes all ranks, the others follow as the slowest link lets them, or the busiest one.
std::optional<Candidate> PrefixChain::price(Pricing& pricing) const {
    const Machine& machine = pricing.machine();
    const MachineCosts& costs = pricing.costs();
    const auto segments = static_cast<double>(pricing.segments(segment_bytes_));
    const Bytes bytes = this->segments(pricing.request()).segment_bytes();
    NetworkClock clock(all_below(at(costs.count())), machine, costs);
    Candidate candidate;
    candidate.algorithm = std::make_shared<PrefixChain>(segment_bytes_);
    double interval = 0;
    ChainLoads loads(machine);
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
            loads.add(rank, rank + 1, times, costs.time_at_work(from));
            candidate.crossings += from != to ? 1 : 0;
        }
        interval = std::max(interval, each);
    }
    candidate.time.interval = std::max(interval, loads.busiest());
    candidate.time.last =
        std::max(candidate.time.first + (segments - 1) * interval, segments * loads.busiest());
    candidate.time.sustained = segments * candidate.time.interval;
    candidate.seconds = candidate.time.last;
    candidate.hops = machine.rank_count() - 1;
    candidate.is_pipeline = true;
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
        return has_room_for(at(machine.rank_count()), request, machine);
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

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    if (name.first() != kChain && name.first() != kPrefixExchange && name.first() != kPrefixOwners &&
        name.first() != kGather)
        return nullptr;
    if (name.lanes > 1) refuse_name(name, "it takes no lanes");
    if (name.first() == kPrefixExchange) return parse_prefix_exchange(name);
    if (name.first() == kPrefixOwners) return parse_prefix_owners(name);
    if (name.levels.size() > 1) refuse_name(name, "it takes no levels");
    if (name.first() == kChain) return std::make_shared<PrefixChain>(name.segment_bytes);
    if (name.segment_bytes > 0) refuse_name(name, "it takes no segments");
    return std::make_shared<PrefixGather>();
}

/// Where hosts and clusters are runs of ranks, less goes between them as partial results than as it came.
void propose(Pricing& pricing, std::vector<Candidate>& found) {
    constexpr Bytes kMostGathered = 1 << 20;
    const Request& request = pricing.request();
    const Machine& machine = pricing.machine();
    if (machine.has_consecutive_ranks()) {
        propose_prefix_exchanges(pricing, found);
    } else if (at(machine.rank_count()) * request.bytes() <= kMostGathered &&
               PrefixGather().can_do(request, machine)) {
        found.push_back(*PrefixGather().price(pricing));
    }
    propose_prefix_owners(pricing, found);
    found.push_back(*PrefixChain(0).price(pricing));
    for (const Bytes segment : pricing.segment_sizes()) found.push_back(*PrefixChain(segment).price(pricing));
}

}  // namespace

Family prefix_family() {
    return {.name = "prefix",
            .grammar =
                "prefix-chain[@SEGMENT], prefix-exchange[/SHAPE][@SEGMENT], prefix-owners[@SEGMENT], "
                "prefix-gather",
            .summary = "each rank adds its own and passes it on, or hosts and clusters swap what they have",
            .source = "Hillis, Steele, 1986; MPICH-G2, 2003; Sanders, Speck, Träff, 2009",
            .is_for = is_prefix,
            .parse = parse,
            .propose = propose,
            .refine = nullptr};
}

}  // namespace laple
