// SPDX-License-Identifier: BSD-3-Clause
#include "explain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "collectives/algorithms/native.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/planner/choice.hpp"
#include "collectives/planner/planner.hpp"

namespace laple::plan {
namespace {

std::string time_text(double seconds) {
    return format_seconds(Seconds(seconds));
}

std::string size_text(const Explanation& explanation) {
    const Request& request = explanation.request;
    const CollectiveRow& row = row_of(request.collective);
    if (!explanation.function.empty())
        return fmt::format("{} of blocks of up to {} bytes", explanation.function,
                           format_bytes(request.bytes()));
    if (!row.has_data) return std::string(row.name);
    return fmt::format("{} of {} bytes", row.name, format_bytes(request.bytes()));
}

bool is_chosen(const Candidate& candidate, const Plan& plan) {
    return candidate.algorithm->name() == plan.algorithm->name();
}

/// The chosen one among the candidates; nullptr when the plan is a wish that has no price.
const Candidate* chosen(const Explanation& explanation) {
    const auto found =
        std::find_if(explanation.candidates.begin(), explanation.candidates.end(),
                     [&](const Candidate& candidate) { return is_chosen(candidate, explanation.plan); });
    return found == explanation.candidates.end() ? nullptr : &*found;
}

std::string native_text(const Candidate& candidate) {
    return candidate.is_measured ? "as measured" : "estimated from its rounds of messages";
}

/// How much of its time an algorithm takes from rank to rank of the same host: so much sooner it would be
/// done if memory took no time. Nothing where it has no price.
double time_on_hosts(const Algorithm& algorithm, const Request& request, const Situation& situation) {
    if (situation.machine.has_single_ranks()) return 0;
    MachineCosts without_memory = situation.costs;
    const Curve nothing({{0, Seconds(0)}});
    for (int cluster = 0; cluster < without_memory.count(); ++cluster)
        without_memory.cluster(cluster).memory = {0, nothing, nothing, 0};
    const auto time = [&](const MachineCosts& costs) {
        Pricing pricing(request, situation.machine, costs);
        const auto candidate = algorithm.price(pricing);
        return candidate ? candidate->seconds : 0;
    };
    return std::max(time(situation.costs) - time(without_memory), 0.0);
}

/// Where the time of a plan goes.
std::string composition(const Candidate& candidate, const Request& request, const Situation& situation) {
    const Algorithm& algorithm = *candidate.algorithm;
    if (algorithm.is_native()) return fmt::format("  {}, {}\n", algorithm.in_words(), native_text(candidate));
    const bool is_to_root = row_of(request.collective).runs_to_root;
    const TreeTime& time = candidate.time;
    std::string text = fmt::format("  {}\n", algorithm.in_words());
    const double on_hosts = time_on_hosts(algorithm, request, situation);
    if (on_hosts > 0)
        text +=
            fmt::format("  {} of the time in the memory of hosts, from rank to rank\n", time_text(on_hosts));
    const std::uint64_t segments = algorithm.segments(request).count();
    // Of some algorithms in segments only the end is known.
    if (segments == 1 || time.interval == 0) {
        if (time.last_cluster >= 0)
            text += fmt::format("  the longest way, {} cluster {}, takes {}\n", is_to_root ? "from" : "to",
                                time.last_cluster, time_text(time.last));
        return text;
    }
    const double rest = time.last - time.first;
    const bool saves = rest < 0.99 * static_cast<double>(segments - 1) * time.interval;
    const bool is_average = algorithm.lanes() > 1;
    text += fmt::format("  {} until the first of {} segments is {}\n", time_text(time.first), segments,
                        is_to_root ? "at the root" : "everywhere");
    // The interval is that of the network.
    const double apart = rest / static_cast<double>(segments - 1);
    const bool is_memory = on_hosts > 0 && apart > 1.01 * time.interval;
    text += fmt::format("  {} for the others, {} apart{}: {}\n", time_text(std::max(rest, 0.0)),
                        time_text(is_memory ? apart : time.interval), is_average ? " on average" : "",
                        is_memory ? "the memory of the busiest host" : describe(time.binding));
    if (saves && !is_average) text += "  (less what NICs let pass at once, having rested)\n";
    if (time.against > 0)
        text +=
            fmt::format("  {} more at the beginning: acknowledgements wait behind what comes the other way\n",
                        time_text(time.against));
    return text;
}

/// "5.07 ms later", "209 us earlier".
std::string later_text(double seconds) {
    return fmt::format("{} {}", time_text(std::abs(seconds)), seconds < 0 ? "earlier" : "later");
}

/// Why one that is cut takes longer.
std::string what_takes_longer(const Candidate& candidate, const Candidate& best) {
    const double first = candidate.time.first - best.time.first;
    const auto others_of = [](const Candidate& one) {
        return one.seconds - one.time.first - one.time.against;
    };
    const double others = others_of(candidate);
    const double against = candidate.time.against - best.time.against;
    if (against > std::max(first, others - others_of(best)))
        return fmt::format(": flows both ways lose {} at their beginning", time_text(against));
    if (first > others - others_of(best))
        return fmt::format(", {} of it for its first segment", time_text(first));
    return fmt::format(": {} for all but the first segment, {}", time_text(others),
                       describe(candidate.time.binding));
}

/// Why it is not the chosen one.
std::string why_not(const Candidate& candidate, const Candidate& best, const Explanation& explanation) {
    const Request& request = explanation.request;
    if (explanation.rules.forbids(*candidate.algorithm, request.collective, request.bytes()))
        return "forbidden";
    constexpr double kAsFast = 0.005;
    const double later = candidate.seconds - best.seconds;
    if (candidate.algorithm->is_native())
        return fmt::format("{}: knows no clusters; {}", later_text(later), native_text(candidate));
    if (std::abs(later) < kAsFast * best.seconds) return "as fast";
    if (later < 0) {
        const char* reason = best.algorithm->is_native()          ? ", too little to leave MPI's own for"
                             : is_nearly_as_fast(best, candidate) ? ", but less simple"
                                                                  : "";
        return later_text(later) + reason;
    }
    const bool is_cut = candidate.algorithm->segments(request).count() > 1;
    if (!is_cut && best.segment_bytes() > 0)
        return later_text(later) + ": not in segments, each rank waits for the whole message";
    const bool says_more =
        is_cut && !best.algorithm->is_native() && candidate.time.binding.kind != Binding::Kind::start;
    return later_text(later) + (says_more ? what_takes_longer(candidate, best) : "");
}

/// The number of each candidate's kind, counted from 0 in the order of their best ones.
std::vector<std::size_t> kinds_of(const std::vector<Candidate>& candidates) {
    std::vector<std::string> known;
    std::vector<std::size_t> kinds;
    for (const Candidate& candidate : candidates) {
        const std::string kind = candidate.algorithm->kind();
        const auto found = std::find(known.begin(), known.end(), kind);
        kinds.push_back(static_cast<std::size_t>(found - known.begin()));
        if (found == known.end()) known.push_back(kind);
    }
    return kinds;
}

/// The best of each kind, but of its own kind the chosen one, if there is one.
std::vector<const Candidate*> best_of_kinds(const std::vector<Candidate>& candidates,
                                            const Candidate* chosen) {
    const std::vector<std::size_t> kinds = kinds_of(candidates);
    std::vector<const Candidate*> best;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (kinds[i] == best.size()) best.push_back(&candidates[i]);
        if (&candidates[i] == chosen) best[kinds[i]] = chosen;
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const Candidate* a, const Candidate* b) { return a->seconds < b->seconds; });
    return best;
}

/// The messages of a reduction go the other way, the last ones first.
SendOrder in_direction(const Plan& plan) {
    SendOrder order = plan.algorithm->order();
    if (!row_of(plan.request.collective).runs_to_root) return order;
    std::reverse(order.begin(), order.end());
    for (Send& send : order) std::swap(send.from, send.to);
    return order;
}

/// " on host 3", where the message comes to a host of several ranks.
std::string arrival(const Machine& machine, Rank rank, Rank parent) {
    const Host host = machine.host_of(rank);
    if (machine.has_single_ranks() || (parent != Tree::kNoParent && machine.host_of(parent) == host))
        return "";
    return fmt::format(" on host {}", host);
}

void add_tree(const Tree& tree, const Machine& machine, Rank rank, const std::string& indent,
              std::string& text) {
    const auto& children = tree.children[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < children.size(); ++i) {
        const bool is_last = i + 1 == children.size();
        text += fmt::format("{}{}{}{}\n", indent, is_last ? "└─ " : "├─ ", children[i],
                            arrival(machine, children[i], rank));
        add_tree(tree, machine, children[i], indent + (is_last ? "   " : "│  "), text);
    }
}

std::string tree_text(const Plan& plan, const Machine& machine) {
    constexpr int kMostRanks = 64;
    const auto tree = plan.algorithm->tree(plan.request, machine);
    if (!tree || machine.rank_count() > kMostRanks) return {};
    std::string text = plan.algorithm->lanes() > 1 ? "  the first of the trees:\n" : "";
    text += fmt::format("\n{}{}\n", tree->root, arrival(machine, tree->root, Tree::kNoParent));
    add_tree(*tree, machine, tree->root, "", text);
    return text;
}

/// The ranks of a cluster, those of each host in a box where hosts have several.
std::string ranks_for_dot(const Machine& machine, int cluster) {
    std::string text;
    if (machine.has_single_ranks()) {
        for (const Rank rank : machine.ranks_in(cluster)) text += fmt::format(" {};", rank);
        return text;
    }
    for (const Host host : machine.hosts_in(cluster)) {
        text += fmt::format("\n    subgraph cluster_host_{} {{ label=\"host {}\";", host, host);
        for (const Rank rank : machine.ranks_on(host)) text += fmt::format(" {};", rank);
        text += " }";
    }
    return text + "\n ";
}

std::string name_of(const Candidate& candidate, const Explanation& explanation) {
    const bool is_by_streams = explanation.are_by_streams && !candidate.algorithm->is_native();
    return candidate.algorithm->name() + std::string(is_by_streams ? CallTime::kByStreams : "");
}

std::string table_of_candidates(const Explanation& explanation, int most_rows) {
    const Plan& plan = explanation.plan;
    const Candidate* best = chosen(explanation);
    std::string text = fmt::format("\n{:>10}  {:<38} {}\n", "predicted", "best of each kind", "and why not");
    // The chosen one and MPI's own are always among them.
    const auto kinds = best_of_kinds(explanation.candidates, best);
    const auto must_be_seen = [&](const Candidate* candidate) {
        return candidate->algorithm->is_native() || is_chosen(*candidate, plan);
    };
    auto others = most_rows - std::count_if(kinds.begin(), kinds.end(), must_be_seen);
    for (const Candidate* candidate : kinds) {
        if (!must_be_seen(candidate) && others-- <= 0) continue;
        text += fmt::format("{:>10}  {:<38} {}\n", time_text(candidate->seconds),
                            name_of(*candidate, explanation),
                            is_chosen(*candidate, plan) ? "chosen"
                            : best == nullptr           ? ""
                                                        : why_not(*candidate, *best, explanation));
    }
    if (explanation.other_way) {
        const Plan& other = *explanation.other_way;
        const char* const what =
            other.streams == 0 ? "the best without streams" : "the best by streams, which must save a tenth";
        text += fmt::format("{:>10}  {:<38} {}\n", format_seconds(other.predicted), other.name(), what);
    }
    return text;
}

}  // namespace

std::string describe(const Binding& binding) {
    switch (binding.kind) {
        case Binding::Kind::start:
            return "latencies";
        case Binding::Kind::port:
            return fmt::format("the busiest NIC of cluster {}", binding.a);
        case Binding::Kind::link:
            return fmt::format("the link from cluster {} to {}", binding.a, binding.b);
        case Binding::Kind::uplink:
            return fmt::format("the uplink of cluster {}", binding.a);
        case Binding::Kind::trunk:
            return fmt::format("the links from group {} of clusters to group {}", binding.a, binding.b);
    }
    return "";
}

std::string describe(const SendOrder& order) {
    std::string text;
    for (const Send& send : order)
        text += fmt::format("{}{} -> {}", text.empty() ? "" : ", ", send.from, send.to);
    return text;
}

Request request_named(const std::string& collective, Bytes bytes, Rank root, int ranks) {
    if (root < 0 || root >= ranks)
        throw Error(fmt::format("there is no rank {}", root), fmt::format("use 0 to {}", ranks - 1));
    const auto known = collective_named(collective);
    if (!known)
        throw Error(fmt::format("\"{}\" is no collective that LaPle plans", collective),
                    fmt::format("use {}", collective_names()));
    return request_for(*known, bytes, root);
}

namespace {

/// Where streams are known to gain, or were asked for.
std::optional<Plan> best_other_way(const Plan& plan, bool are_by_streams, const Situation& situation,
                                   const Rules& rules) {
    const int streams = situation.costs.most_streams();
    if (streams == 0) return std::nullopt;
    MachineCosts costs = are_by_streams ? situation.costs : situation.costs.with_streams();
    costs.use_streams(0);
    Rules without_native = rules;
    const Rules forbidden = parse_rules("^native");
    without_native.rules.insert(without_native.rules.end(), forbidden.rules.begin(), forbidden.rules.end());
    Plan other = choose_plan(plan.request, situation.machine, without_native, costs);
    if (other.is_native() || other.predicted <= Seconds(0)) return std::nullopt;
    other.streams = are_by_streams ? 0 : streams;
    return other;
}

}  // namespace

Explanation explain(const Request& request, const Situation& situation, const Rules& rules) {
    Explanation explanation;
    explanation.request = request;
    explanation.rules = rules;
    explanation.plan = choose_plan(request, situation.machine, rules, situation.costs);
    const bool is_empty = request.bytes() == 0 && row_of(request.collective).has_data;
    if (is_empty || request.bytes() > kMostPlannedBytes) return explanation;
    explanation.are_by_streams = explanation.plan.streams > 0 ||
                                 (situation.costs.are_streams_given() && situation.costs.most_streams() > 0);
    const MachineCosts costs = explanation.are_by_streams ? situation.costs.with_streams() : situation.costs;
    Pricing pricing(request, situation.machine, costs);
    explanation.candidates = candidates(request, situation.machine, costs, situation.costs);
    explanation.other_way = best_other_way(explanation.plan, explanation.are_by_streams, situation, rules);
    if (chosen(explanation) == nullptr) {
        if (auto forced = explanation.plan.algorithm->price(pricing))
            explanation.candidates.push_back(std::move(*forced));
        std::stable_sort(explanation.candidates.begin(), explanation.candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
    }
    return explanation;
}

std::string text_of(const Explanation& explanation, const Situation& situation, int most_rows) {
    const Plan& plan = explanation.plan;
    const bool is_rooted = row_of(explanation.request.collective).is_rooted;
    std::string text = fmt::format("{}{}, {}\n\n", size_text(explanation),
                                   is_rooted ? fmt::format(", root {}", explanation.request.root) : "",
                                   laple::describe(situation.machine));
    text += plan.name();
    if (plan.predicted > Seconds(0)) text += fmt::format(", {}", format_seconds(plan.predicted));
    text += fmt::format(": {}\n", plan.reason);
    const Candidate* best = chosen(explanation);
    if (best != nullptr) text += composition(*best, explanation.request, situation);
    if (!plan.algorithm->order().empty())
        text += fmt::format("  between clusters: {}\n", describe(in_direction(plan)));
    text += tree_text(plan, situation.machine);
    if (!explanation.candidates.empty()) text += table_of_candidates(explanation, most_rows);
    return text;
}

std::string json_of(const Explanation& explanation, const Situation& situation) {
    const Request& request = explanation.request;
    Json document{{"format", "laple-plan-1"},
                  {"collective", name_of(request.collective)},
                  {"bytes", request.bytes()},
                  {"root", request.root},
                  {"ranks", situation.machine.rank_count()},
                  {"hosts", situation.machine.host_count()},
                  {"clusters", situation.machine.cluster_count()},
                  {"algorithm", explanation.plan.name()},
                  {"predicted", explanation.plan.predicted.count()},
                  {"reason", explanation.plan.reason}};
    if (explanation.other_way) {
        document["other_way"] = {{"algorithm", explanation.other_way->name()},
                                 {"predicted", explanation.other_way->predicted.count()}};
    }
    document["candidates"] = Json::array();
    const std::vector<std::size_t> kinds = kinds_of(explanation.candidates);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const Candidate& candidate = explanation.candidates[i];
        const Algorithm& algorithm = *candidate.algorithm;
        Json entry{{"algorithm", name_of(candidate, explanation)},
                   {"kind", kinds[i]},
                   {"predicted", candidate.seconds}};
        if (algorithm.is_native()) entry["measured"] = candidate.is_measured;
        if (!algorithm.is_native()) entry["bound_by"] = describe(candidate.time.binding);
        if (!algorithm.order().empty()) {
            entry["order"] = Json::array();
            for (const Send& send : algorithm.order()) entry["order"].push_back({send.from, send.to});
        }
        if (!algorithm.details().empty()) entry["details"] = algorithm.details().substr(1);
        document["candidates"].push_back(std::move(entry));
    }
    return json_text(document, 2) + "\n";
}

std::string dot_of(const Explanation& explanation, const Situation& situation) {
    const Plan& plan = explanation.plan;
    const Machine& machine = situation.machine;
    const auto tree = plan.algorithm->tree(plan.request, machine);
    if (!tree) {
        throw Error(fmt::format("{} is no tree", plan.algorithm->name()),
                    "use --format svg or trace for a picture of its messages");
    }
    std::string text = fmt::format("digraph \"{} {}{}\" {{\n  node [shape=circle];\n", size_text(explanation),
                                   plan.algorithm->name(), plan.algorithm->lanes() > 1 ? ", first lane" : "");
    for (int cluster = 0; cluster < machine.cluster_count(); ++cluster) {
        text += fmt::format("  subgraph cluster_{} {{ label=\"cluster {}\";", cluster, cluster);
        text += ranks_for_dot(machine, cluster) + " }\n";
    }
    const bool is_up = row_of(plan.request.collective).runs_to_root;
    for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
        for (const Rank child : tree->children[static_cast<std::size_t>(rank)]) {
            const bool is_far = machine.cluster_of_rank(rank) != machine.cluster_of_rank(child);
            const bool is_near = machine.host_of(rank) == machine.host_of(child);
            text += fmt::format("  {} -> {}{};\n", is_up ? child : rank, is_up ? rank : child,
                                is_far    ? " [color=red]"
                                : is_near ? " [color=gray]"
                                          : "");
        }
    }
    return text + "}\n";
}

}  // namespace laple::plan
