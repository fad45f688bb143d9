// SPDX-License-Identifier: BSD-3-Clause
#include "explain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "collectives/hierarchy.hpp"
#include "collectives/planner.hpp"

namespace laple::plan {
namespace {

std::string time_text(double seconds) {
    return format_seconds(Seconds(seconds));
}

std::string size_text(const Request& request) {
    if (request.collective == Collective::barrier) return "barrier";
    return fmt::format("{} of {} bytes", name_of(request.collective), format_bytes(request.bytes()));
}

/// The chosen one among the candidates; nullptr when the plan is a wish that has no price.
const Candidate* chosen(const Explanation& explanation) {
    const auto found = std::find_if(
        explanation.candidates.begin(), explanation.candidates.end(),
        [&](const Candidate& candidate) { return candidate.algorithm == explanation.plan.algorithm; });
    return found == explanation.candidates.end() ? nullptr : &*found;
}

/// "{0 1}"
std::vector<std::string> region_names(const RegionList& regions) {
    std::vector<std::string> names;
    for (const auto& region : regions) names.push_back(fmt::format("{{{}}}", fmt::join(region, " ")));
    return names;
}

/// Where the time of a plan goes.
std::string composition(const Candidate& candidate, const Request& request) {
    const Blocks blocks = Blocks::cut(request.units, request.unit_bytes, candidate.algorithm.segment_bytes);
    if (candidate.algorithm.is_native)
        return fmt::format("  MPI's own algorithm, {}\n",
                           candidate.is_measured ? "as measured" : "estimated from its rounds of messages");
    const std::uint64_t segments = blocks.count();
    if (candidate.algorithm.meeting != Meeting::tree) {
        if (segments == 1)
            return "  clusters combine inside, their coordinators meet, clusters spread the result\n";
        const int lanes = candidate.algorithm.lanes;
        if (candidate.algorithm.meeting == Meeting::scatter)
            return fmt::format(
                "  clusters combine inside, the coordinators of {} lanes share the summing up, clusters "
                "spread the "
                "result\n"
                "  {} segments, {} apart on average: {}\n",
                lanes, segments, time_text(candidate.time.interval), describe(candidate.time.binding));
        if (candidate.algorithm.meeting == Meeting::regional)
            return fmt::format(
                "  near clusters combine first, {}; coordinators of {} lanes exchange between them, all "
                "spread "
                "the result\n"
                "  {} segments, {} apart on average: {}\n",
                fmt::join(region_names(candidate.regions), " "), lanes, segments,
                time_text(candidate.time.interval), describe(candidate.time.binding));
        const std::string apart = time_text(candidate.time.interval);
        const std::string how = segments <= static_cast<std::uint64_t>(lanes)
                                    ? fmt::format(", each in a lane of its own for {}", apart)
                                : lanes > 1
                                    ? fmt::format(" in {} lanes, those of a lane {} apart", lanes, apart)
                                    : fmt::format(", {} apart", apart);
        return fmt::format(
            "  clusters combine inside, their coordinators meet, clusters spread the result\n"
            "  {} segments{}: {}\n",
            segments, how, describe(candidate.time.binding));
    }
    if (segments == 1)
        return fmt::format(
            "  the whole message goes from rank to rank; the longest way, {} cluster {}, takes {}\n",
            request.collective == Collective::reduce ? "from" : "to", candidate.time.last_cluster,
            time_text(candidate.time.last));
    const double rest = candidate.time.last - candidate.time.first;
    const bool saves = rest < 0.99 * static_cast<double>(segments - 1) * candidate.time.interval;
    return fmt::format(
        "  {} until the first of {} segments is {}\n"
        "  {} for the others, {} apart{}: {}\n{}",
        time_text(candidate.time.first), segments,
        request.collective == Collective::reduce ? "at the root" : "everywhere",
        time_text(std::max(rest, 0.0)), time_text(candidate.time.interval),
        candidate.algorithm.lanes > 1 ? " on average" : "", describe(candidate.time.binding),
        saves ? "  (less what NICs let pass at once, having rested)\n" : "");
}

/// "5.07 ms later", "209 us earlier".
std::string later_text(double seconds) {
    return fmt::format("{} {}", time_text(std::abs(seconds)), seconds < 0 ? "earlier" : "later");
}

/// Why one that is cut takes longer.
std::string what_takes_longer(const Candidate& candidate, const Candidate& best) {
    if (candidate.algorithm.meeting != Meeting::tree)
        return fmt::format(": a segment every {}, {}", time_text(candidate.time.interval),
                           describe(candidate.time.binding));
    const double first = candidate.time.first - best.time.first;
    const double others = candidate.seconds - candidate.time.first;
    if (best.algorithm.meeting == Meeting::tree && first > others - (best.seconds - best.time.first))
        return fmt::format(", {} of it for its first segment", time_text(first));
    return fmt::format(": {} for all but the first segment, {}", time_text(others),
                       describe(candidate.time.binding));
}

/// Why it is not the chosen one.
std::string why_not(const Candidate& candidate, const Candidate& best, const Explanation& explanation) {
    const Request& request = explanation.request;
    if (explanation.rules.forbids(candidate.algorithm, request.collective, request.bytes()))
        return "forbidden";
    constexpr double kAsFast = 0.005;
    const double later = candidate.seconds - best.seconds;
    if (candidate.algorithm.is_native)
        return fmt::format("{}: knows no clusters; {}", later_text(later),
                           candidate.is_measured ? "as measured" : "estimated from its rounds of messages");
    if (std::abs(later) < kAsFast * best.seconds) return "as fast";
    if (later < 0) {
        const bool is_as_good = is_near(best, candidate);
        return later_text(later) + (best.algorithm.is_native ? ", too little to leave MPI's own for"
                                    : is_as_good             ? ", but less simple"
                                                             : "");
    }
    const bool is_cut =
        Blocks::cut(request.units, request.unit_bytes, candidate.algorithm.segment_bytes).count() > 1;
    if (!is_cut && best.algorithm.segment_bytes > 0)
        return later_text(later) + ": is not cut, who passes it on waits for all of it";
    const bool says_more =
        is_cut && !best.algorithm.is_native && candidate.time.binding.kind != Binding::Kind::start;
    return later_text(later) + (says_more ? what_takes_longer(candidate, best) : "");
}

/// Candidates of one kind differ in the size of segments only, or in the name of the rule that has found the
/// same order.
bool are_of_one_kind(const Candidate& a, const Candidate& b) {
    Algorithm x = a.algorithm;
    Algorithm y = b.algorithm;
    x.segment_bytes = y.segment_bytes = 0;
    const bool is_cut_alike = (a.algorithm.segment_bytes > 0) == (b.algorithm.segment_bytes > 0);
    if (!x.order.empty() && !y.order.empty() && a.order == b.order) x.order = y.order;
    return is_cut_alike && x == y;
}

/// The number of each candidate's kind, counted from 0 in the order of their best ones.
std::vector<std::size_t> kinds_of(const std::vector<Candidate>& candidates) {
    std::vector<const Candidate*> best;
    std::vector<std::size_t> kinds;
    for (const Candidate& candidate : candidates) {
        const auto known = std::find_if(best.begin(), best.end(), [&](const Candidate* other) {
            return are_of_one_kind(*other, candidate);
        });
        kinds.push_back(static_cast<std::size_t>(known - best.begin()));
        if (known == best.end()) best.push_back(&candidate);
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
    SendOrder order = plan.order;
    if (plan.request.collective != Collective::reduce) return order;
    std::reverse(order.begin(), order.end());
    for (Send& send : order) std::swap(send.from, send.to);
    return order;
}

void add_tree(const Tree& tree, Rank rank, const std::string& indent, std::string& text) {
    const auto& children = tree.children[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < children.size(); ++i) {
        const bool is_last = i + 1 == children.size();
        text += fmt::format("{}{}{}\n", indent, is_last ? "└─ " : "├─ ", children[i]);
        add_tree(tree, children[i], indent + (is_last ? "   " : "│  "), text);
    }
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
    for (const Collective candidate : kAllCollectives) {
        if (name_of(candidate) != collective) continue;
        Request request;
        request.collective = candidate;
        request.root = is_rooted(candidate) ? root : 0;
        const bool has_elements = candidate == Collective::reduce || candidate == Collective::allreduce;
        request.unit_bytes = has_elements ? 8 : 1;
        request.units =
            candidate == Collective::barrier ? 0 : (bytes + request.unit_bytes - 1) / request.unit_bytes;
        return request;
    }
    throw Error(fmt::format("\"{}\" is no collective that LaPle plans", collective),
                "use bcast, reduce, allreduce or barrier");
}

Explanation explain(const Request& request, const Situation& situation, const Rules& rules) {
    Explanation explanation;
    explanation.request = request;
    explanation.rules = rules;
    explanation.plan = choose_plan(request, situation.topology, rules, situation.costs);
    const bool is_empty = request.bytes() == 0 && request.collective != Collective::barrier;
    if (is_empty || request.bytes() > kMostPlannedBytes) return explanation;
    Pricing pricing(request, situation.topology, situation.costs);
    explanation.candidates = pricing.all();
    if (chosen(explanation) == nullptr) {
        if (auto forced = pricing.price(explanation.plan.algorithm))
            explanation.candidates.push_back(std::move(*forced));
        std::stable_sort(explanation.candidates.begin(), explanation.candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
    }
    return explanation;
}

std::string text_of(const Explanation& explanation, const Situation& situation, int most_rows) {
    const Plan& plan = explanation.plan;
    std::string text = fmt::format(
        "{}{}, {}\n\n", size_text(explanation.request),
        is_rooted(explanation.request.collective) ? fmt::format(", root {}", explanation.request.root) : "",
        laple::describe(situation.topology));
    text += fmt::format("{}", name_of(plan.algorithm));
    if (plan.predicted > Seconds(0)) text += fmt::format(", {}", format_seconds(plan.predicted));
    text += fmt::format(": {}\n", plan.reason);
    const Candidate* best = chosen(explanation);
    if (best != nullptr) text += composition(*best, explanation.request);
    if (!plan.order.empty()) text += fmt::format("  between clusters: {}\n", describe(in_direction(plan)));
    if (!plan.relays.empty()) {
        text += fmt::format("  each lane is passed on to all other clusters by one of {}, in turn\n",
                            fmt::join(plan.relays, ", "));
    }
    if (!plan.algorithm.is_native && plan.algorithm.meeting == Meeting::tree &&
        situation.topology.size() <= 64) {
        const Tree tree = tree_of(plan, situation.topology);
        if (plan.algorithm.lanes > 1)
            text += fmt::format(
                "  segments take turns between {} trees, in which members of a cluster change places; the "
                "first:\n",
                plan.algorithm.lanes);
        text += fmt::format("\n{}\n", tree.root);
        add_tree(tree, tree.root, "", text);
    }
    if (explanation.candidates.empty()) return text;
    text += fmt::format("\n{:>10}  {:<30} {}\n", "predicted", "best of each kind", "and why not");
    // The chosen one and MPI's own are always among them.
    const auto kinds = best_of_kinds(explanation.candidates, best);
    const auto must_be_seen = [&](const Candidate* candidate) {
        return candidate->algorithm.is_native || candidate->algorithm == plan.algorithm;
    };
    auto others = most_rows - std::count_if(kinds.begin(), kinds.end(), must_be_seen);
    for (const Candidate* candidate : kinds) {
        const bool is_chosen = candidate->algorithm == plan.algorithm;
        if (!must_be_seen(candidate) && others-- <= 0) continue;
        text +=
            fmt::format("{:>10}  {:<30} {}\n", time_text(candidate->seconds), name_of(candidate->algorithm),
                        is_chosen         ? "chosen"
                        : best == nullptr ? ""
                                          : why_not(*candidate, *best, explanation));
    }
    return text;
}

std::string json_of(const Explanation& explanation, const Situation& situation) {
    const Request& request = explanation.request;
    Json document{{"format", "laple-plan-1"},
                  {"collective", name_of(request.collective)},
                  {"bytes", request.bytes()},
                  {"root", request.root},
                  {"ranks", situation.topology.size()},
                  {"algorithm", name_of(explanation.plan.algorithm)},
                  {"predicted", explanation.plan.predicted.count()},
                  {"reason", explanation.plan.reason}};
    document["candidates"] = Json::array();
    const std::vector<std::size_t> kinds = kinds_of(explanation.candidates);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const Candidate& candidate = explanation.candidates[i];
        Json entry{{"algorithm", name_of(candidate.algorithm)},
                   {"kind", kinds[i]},
                   {"predicted", candidate.seconds}};
        if (candidate.algorithm.is_native) entry["measured"] = candidate.is_measured;
        if (!candidate.algorithm.is_native) entry["bound_by"] = describe(candidate.time.binding);
        if (!candidate.order.empty()) {
            entry["order"] = Json::array();
            for (const Send& send : candidate.order) entry["order"].push_back({send.from, send.to});
        }
        if (!candidate.relays.empty()) entry["relays"] = candidate.relays;
        document["candidates"].push_back(std::move(entry));
    }
    return document.dump(2) + "\n";
}

std::string dot_of(const Explanation& explanation, const Situation& situation) {
    const Plan& plan = explanation.plan;
    if (plan.algorithm.is_native || plan.algorithm.meeting != Meeting::tree) {
        throw Error(fmt::format("{} is no tree", name_of(plan.algorithm)),
                    "use --format svg or trace for a picture of its messages");
    }
    const Topology& topology = situation.topology;
    const Tree tree = tree_of(plan, topology);
    std::string text =
        fmt::format("digraph \"{} {}{}\" {{\n  node [shape=circle];\n", size_text(explanation.request),
                    name_of(plan.algorithm), plan.algorithm.lanes > 1 ? ", first lane" : "");
    const int level = topology.level_count() - 1;
    for (int group = 0; group < topology.group_count(level); ++group) {
        text += fmt::format("  subgraph cluster_{} {{ label=\"cluster {}\";", group, group);
        for (const Rank rank : topology.members(level, group)) text += fmt::format(" {};", rank);
        text += " }\n";
    }
    for (Rank rank = 0; rank < topology.size(); ++rank) {
        for (const Rank child : tree.children[static_cast<std::size_t>(rank)]) {
            const bool is_far = topology.group_of(level, rank) != topology.group_of(level, child);
            const bool is_up = plan.request.collective == Collective::reduce;
            text += fmt::format("  {} -> {}{};\n", is_up ? child : rank, is_up ? rank : child,
                                is_far ? " [color=red]" : "");
        }
    }
    return text + "}\n";
}

}  // namespace laple::plan
