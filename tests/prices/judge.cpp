// SPDX-License-Identifier: BSD-3-Clause
#include "judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/send_windows.hpp"
#include "collectives/simulation/simulated_network.hpp"
#include "collectives/simulation/simulator.hpp"
#include "support/algorithms.hpp"

namespace laple::test {
namespace {

/// The same numbers everywhere, unlike those of the standard's distributions.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}

    int whole(int low, int high) {
        return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    double between(double low, double high) {
        return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
    }
    /// Each decade as often as any other.
    double scaled(double low, double high) { return low * std::pow(high / low, between(0, 1)); }
    bool once_in(int times) { return whole(1, times) == 1; }
    template <typename Things>
    const auto& one_of(const Things& things) {
        return things[static_cast<std::size_t>(whole(0, static_cast<int>(things.size()) - 1))];
    }
    template <typename Things>
    void shuffle(Things& things) {
        for (std::size_t i = things.size(); i > 1; --i)
            std::swap(things[i - 1], things[static_cast<std::size_t>(whole(0, static_cast<int>(i) - 1))]);
    }

  private:
    std::mt19937_64 random_;
};

constexpr int kMostRanks = 256;

/// Ranks of each host, cluster by cluster.
std::vector<std::vector<int>> draw_hosts(Draw& draw) {
    const int most = draw.one_of(std::vector<int>{1, 1, 1, 2, 4, 8, 16, 32, 64});
    const int clusters = draw.whole(1, std::min(8, kMostRanks / most));
    const int hosts = std::clamp(kMostRanks / most / clusters, 1, 8);
    const bool are_alike = draw.once_in(2);
    const bool are_hosts_alike = !draw.once_in(4);
    const int usual = draw.whole(1, hosts);
    std::vector<std::vector<int>> ranks;
    for (int c = 0; c < clusters; ++c) {
        auto& here = ranks.emplace_back();
        for (int left = are_alike ? usual : draw.whole(1, hosts); left > 0; --left)
            here.push_back(are_hosts_alike ? most : draw.whole(1, most));
    }
    return ranks;
}

Machine draw_placement(Draw& draw) {
    const auto ranks = draw_hosts(draw);
    std::vector<int> cluster_of_host;
    std::vector<int> host_of;
    for (std::size_t c = 0; c < ranks.size(); ++c) {
        for (const int count : ranks[c]) {
            const int host = static_cast<int>(cluster_of_host.size());
            cluster_of_host.push_back(static_cast<int>(c));
            host_of.insert(host_of.end(), static_cast<std::size_t>(count), host);
        }
    }
    const int placement = draw.whole(0, 2);
    if (placement == 1) {  // dealt round
        std::vector<int> dealt;
        std::vector<int> left(cluster_of_host.size(), 0);
        for (const int host : host_of) ++left[static_cast<std::size_t>(host)];
        while (dealt.size() < host_of.size()) {
            for (std::size_t host = 0; host < left.size(); ++host) {
                if (left[host]-- > 0) dealt.push_back(static_cast<int>(host));
            }
        }
        host_of = dealt;
    } else if (placement == 2) {
        draw.shuffle(host_of);
    }
    const bool has_groups = ranks.size() >= 4 && draw.once_in(4);
    std::vector<std::vector<int>> labels(has_groups ? 2 : 1);
    for (const int host : host_of) {
        const int cluster = cluster_of_host[static_cast<std::size_t>(host)];
        if (has_groups) labels[0].push_back(cluster / 2);
        labels.back().push_back(cluster);
    }
    return {Topology::from_labels(static_cast<int>(host_of.size()), labels), host_of};
}

Curve line(double overhead, double rate) {
    constexpr Bytes kEnd = 1 << 20;
    return Curve({{0, Seconds(overhead)}, {kEnd, Seconds(overhead + static_cast<double>(kEnd) / rate)}});
}

/// Single messages of more than 16 KiB wait for a handshake.
Curve with_handshake(const Curve& stream, double latency) {
    constexpr Bytes kEager = 16 << 10;
    Curve gap;
    for (const Bytes bytes : {Bytes{0}, kEager}) gap.set(bytes, stream.at(bytes));
    for (const Bytes bytes : {kEager + 1, Bytes{1} << 20})
        gap.set(bytes, stream.at(bytes) + Seconds(2 * latency));
    return gap;
}

MachineCosts draw_costs(const Machine& machine, Draw& draw) {
    MachineCosts costs(machine.cluster_count());
    costs.shares_ports = !draw.once_in(4);
    const double usual_nic = draw.scaled(10e6, 2.5e9);
    const bool are_nics_alike = draw.once_in(2);
    const bool are_nics_known = !draw.once_in(8);
    const bool have_uplinks = draw.once_in(2);
    const bool have_trunks = draw.once_in(4);
    const bool have_handshakes = draw.once_in(3);
    const bool do_combine = draw.once_in(2);
    const double overhead = draw.scaled(1e-6, 30e-6);
    const double near = draw.scaled(5e-6, 100e-6);
    const double far = draw.scaled(20e-6, 50e-3);
    std::vector<double> nics;
    for (int c = 0; c < costs.count(); ++c) {
        nics.push_back(usual_nic * (are_nics_alike ? 1 : draw.between(1, 4)));
        MachineCosts::Cluster& cluster = costs.cluster(c);
        if (are_nics_known) cluster.nic_out = cluster.nic_in = nics.back();
        if (have_uplinks) {
            const auto hosts = static_cast<double>(machine.hosts_in(c).size());
            cluster.uplink_out = cluster.uplink_in = nics.back() * draw.between(1, hosts);
        }
        if (do_combine) cluster.reduction = draw.scaled(5e-11, 3e-10);
        cluster.memory.latency = draw.scaled(0.3e-6, 1e-6);
        cluster.memory.gap = cluster.memory.stream = line(draw.scaled(0.3e-6, 1e-6), draw.scaled(2e9, 10e9));
    }
    const bool are_flows_slow = draw.once_in(2);
    for (int a = 0; a < costs.count(); ++a) {
        for (int b = 0; b < costs.count(); ++b) {
            MachineCosts::Link& link = costs.link(a, b);
            const double nic = std::min(nics[static_cast<std::size_t>(a)], nics[static_cast<std::size_t>(b)]);
            const bool is_far = machine.group_of(a) != machine.group_of(b);
            link.latency = a == b ? near : (is_far ? far : std::max(far / 10, near)) * draw.between(1, 2);
            const double rate = a != b && are_flows_slow ? nic * draw.scaled(0.1, 1) : nic;
            link.stream = line(overhead, rate);
            link.gap = have_handshakes ? with_handshake(link.stream, link.latency) : link.stream;
            if (a != b && have_trunks) link.all = rate * draw.between(1, 4);
        }
    }
    return costs;
}

/// Those over all hosts are made, and proposed, for one cluster: elsewhere they count apart.
std::string family_of(const Algorithm& algorithm, int clusters) {
    static const std::vector<std::string> kOverHosts{"scatter-ring",
                                                     "scatter-doubling",
                                                     "halving-gather",
                                                     "halving-doubling",
                                                     "multi-leader-halving-gather",
                                                     "multi-leader-halving-doubling",
                                                     "pairwise",
                                                     "multi-leader-pairwise",
                                                     "ring",
                                                     "bruck",
                                                     "dissemination"};
    static const std::vector<std::string> kBetween{
        "direct-exchange",   "recursive-doubling",    "rsag",
        "three-level",       "scatter-allgather",     "two-tree",
        "leader-exchange",   "multi-leader-exchange", "direct",
        "host-aggregation",  "cluster-aggregation",   "host-combining",
        "cluster-combining", "prefix-chain",          "prefix-exchange",
        "prefix-owners",     "prefix-gather"};
    const std::string name = algorithm.name();
    std::string family = name.substr(0, name.find_first_of("/@"));
    // Those that belong to another one.
    if (family == "leader-ring") family = "leader-exchange";
    if (family == "cluster-ring") family = "cluster-combining";
    const auto is_in = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), family) != names.end();
    };
    if (is_in(kOverHosts)) {
        if (algorithm.segment_bytes() > 0) family += "@";
        return clusters > 1 ? family + ", clusters" : family;
    }
    if (!is_in(kBetween)) family = family.starts_with("multi-leader-") ? "multi-leader tree" : "tree";
    if (algorithm.segment_bytes() > 0) family += "@";
    if (algorithm.lanes() > 1) family += "x";
    return family;
}

/// Names that reach every family; of some the planner proposes nothing on most machines.
std::vector<std::string> names_to_judge(Collective collective, Draw& draw) {
    static const std::vector<const char*> kSegments{"@4K", "@8K", "@16K", "@32K", "@64K"};
    static const std::vector<const char*> kLanes{"x2", "x3", "x4", "x8", "x12"};
    std::vector<std::string> names;
    if (is_personalized(collective))
        return {"direct", std::string("direct") + draw.one_of(kSegments), "host-aggregation",
                std::string("host-aggregation") + draw.one_of(kSegments), "cluster-aggregation"};
    if (is_combined_in_parts(collective))
        return {"direct",
                std::string("direct") + draw.one_of(kSegments),
                "host-combining",
                std::string("host-combining") + draw.one_of(kSegments),
                "cluster-combining",
                std::string("cluster-combining") + draw.one_of(kSegments),
                "cluster-ring@8K"};
    if (is_prefix(collective))
        return {"prefix-chain",  std::string("prefix-chain") + draw.one_of(kSegments),  "prefix-exchange",
                "prefix-owners", std::string("prefix-owners") + draw.one_of(kSegments), "prefix-gather"};
    if (is_gathered(collective))
        return {"ring",
                "bruck",
                "multi-leader-exchange",
                std::string("multi-leader-exchange") + draw.one_of(kSegments),
                "leader-exchange/binomial",
                "leader-exchange/flat",
                std::string("leader-exchange/chain") + draw.one_of(kSegments),
                std::string("leader-exchange/binary") + draw.one_of(kSegments),
                "leader-ring/chain@8K",
                "leader-ring/binary@32K"};
    for (const char* base : {"flat/binomial",
                             "chain/flat",
                             "nearest/binomial",
                             "binomial",
                             "multi-leader-flat/flat",
                             "direct-exchange/binomial",
                             "recursive-doubling/binary",
                             "scatter-ring",
                             "scatter-doubling",
                             "halving-gather",
                             "halving-gather@16K",
                             "halving-doubling",
                             "halving-doubling@16K",
                             "multi-leader-halving-gather",
                             "multi-leader-halving-doubling",
                             "multi-leader-halving-doubling@16K",
                             "pairwise",
                             "multi-leader-pairwise",
                             "ring",
                             "dissemination"})
        names.emplace_back(base);
    for (const char* base :
         {"nearest/chain", "flat/binary", "multi-leader-nearest/chain", "multi-leader-flat/binary",
          "direct-exchange/chain", "recursive-doubling/chain", "two-tree"})
        names.push_back(std::string(base) + draw.one_of(kSegments));
    for (const char* base :
         {"multi-leader-nearest/chain", "multi-leader-flat/binary", "direct-exchange/flat",
          "recursive-doubling/flat", "rsag/flat", "three-level/flat", "scatter-allgather/chain"})
        names.push_back(std::string(base) + draw.one_of(kSegments) + draw.one_of(kLanes));

    std::erase_if(names, [&](const std::string& name) { return !is_known_for(name, collective); });
    return names;
}

/// One of each family that the planner proposes, and the named ones.
std::vector<Candidate> candidates_to_judge(Pricing& pricing, Draw& draw) {
    std::map<std::string, std::vector<Candidate>> by_family;
    for (Candidate& candidate : pricing.all()) {
        if (!candidate.algorithm->is_native())
            by_family[family_of(*candidate.algorithm, pricing.clusters())].push_back(std::move(candidate));
    }
    std::vector<Candidate> found;
    for (auto& [family, candidates] : by_family) found.push_back(draw.one_of(candidates));
    const Request& request = pricing.request();
    for (const std::string& name : names_to_judge(request.collective, draw)) {
        const AlgorithmPtr algorithm = parse_algorithm(name, request.collective);
        const bool is_cut = algorithm->segment_bytes() == 0 || algorithm->segments(request).count() > 1;
        if (!is_cut || !algorithm->can_do(request, pricing.machine())) continue;
        if (auto candidate = algorithm->price(pricing)) found.push_back(std::move(*candidate));
    }
    return found;
}

/// Nothing where it would take too many messages.
double simulated(const Plan& plan, const DrawnMachine& drawn, std::uint64_t most_messages) {
    const auto ranks = static_cast<std::uint64_t>(drawn.machine.rank_count());
    if (plan.segments().count() * ranks > most_messages) return 0;
    // Prices of what is gathered know nothing of messages that are cut where there is no room to put blocks
    // in order.
    Machine machine = drawn.machine;
    if (is_gathered(plan.request.collective)) machine.set_block_memory(Bytes{1} << 40U);
    const auto schedules = expand_all(plan, machine);
    SimulationOptions options;
    options.network = simulated_network(drawn.machine, drawn.costs, plan.segments().count() > 1);
    const SimulationResult result = simulate(schedules, drawn.machine, nullptr, options);
    if (!result.ok()) throw std::runtime_error(plan.algorithm->name() + ": " + result.failure);
    return result.makespan.count();
}

}  // namespace

DrawnMachine draw_machine(std::uint64_t number) {
    Draw draw(number);
    Machine machine = draw_placement(draw);
    MachineCosts costs = draw_costs(machine, draw);
    return {std::move(machine), std::move(costs)};
}

std::vector<Verdict> judge(std::uint64_t number, std::uint64_t most_messages) {
    static const std::vector<Bytes> kSizes{8,         64,        1 << 10, 8 << 10, 32 << 10,
                                           128 << 10, 512 << 10, 2 << 20, 8 << 20};
    const DrawnMachine drawn = draw_machine(number);
    std::vector<Verdict> verdicts;
    if (drawn.machine.host_count() == 1) return verdicts;
    for (const Collective collective : kAllCollectives) {
        // Of its own: what is proposed for one collective changes no other draw.
        Draw draw(fnv1a(name_of(collective), ~number));
        const Bytes bytes = row_of(collective).has_data ? draw.one_of(kSizes) : 0;
        const Rank root = row_of(collective).is_rooted ? draw.whole(0, drawn.machine.rank_count() - 1) : 0;
        const Request request = request_for(collective, bytes, root);
        Pricing pricing(request, drawn.machine, drawn.costs);
        for (Candidate& candidate : candidates_to_judge(pricing, draw)) {
            Plan plan{request, candidate.algorithm, ""};
            plan.windows = windows_for(candidate, request, drawn.machine, drawn.costs);
            const double truth = simulated(plan, drawn, most_messages);
            if (!(truth > 0)) continue;
            verdicts.push_back({number, collective, family_of(*candidate.algorithm, pricing.clusters()),
                                candidate.algorithm->name(), bytes, root, candidate.seconds, truth});
        }
    }
    return verdicts;
}

std::string describe(const Verdict& verdict) {
    return fmt::format("machine {}, {} {} root {}, {}: {} predicted, {} simulated", verdict.machine,
                       name_of(verdict.collective), format_bytes(verdict.bytes), verdict.root, verdict.name,
                       format_seconds(Seconds(verdict.predicted)),
                       format_seconds(Seconds(verdict.simulated)));
}

std::map<std::pair<std::string, std::string>, Errors> errors_of(const std::vector<Verdict>& verdicts) {
    std::map<std::pair<std::string, std::string>, std::vector<const Verdict*>> sorted;
    for (const Verdict& verdict : verdicts)
        sorted[{verdict.family, std::string(name_of(verdict.collective))}].push_back(&verdict);
    std::map<std::pair<std::string, std::string>, Errors> all;
    for (auto& [key, list] : sorted) {
        std::sort(list.begin(), list.end(),
                  [](const Verdict* a, const Verdict* b) { return a->error() < b->error(); });
        Errors& errors = all[key];
        errors.bias = list[list.size() / 2]->error();
        for (const Verdict* verdict : list) {
            errors.sizes.push_back(std::abs(verdict->error()));
            if (errors.sizes.back() >= std::abs(errors.worst.simulated > 0 ? errors.worst.error() : 0))
                errors.worst = *verdict;
        }
        std::sort(errors.sizes.begin(), errors.sizes.end());
    }
    return all;
}

}  // namespace laple::test
