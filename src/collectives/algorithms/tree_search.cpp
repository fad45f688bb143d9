// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/tree_search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "collectives/cost/order_rule.hpp"

namespace laple {
namespace {

constexpr double kLeastGain = 1.1;    // by lanes that share a link
constexpr int kFewer = 4;             // so many times fewer the next time
constexpr int kLeastToTakeTurns = 3;  // hosts of a cluster: with two, the root's other one does it all

/// Rules for the order of a pipeline, whose segments cost little: those that differ from each other then.
constexpr std::array<std::string_view, 3> kPipelineRules{"jackson", "ecef-la-max", "nearest"};

/// Where clusters are in groups, also one that sends one copy to each group, to be passed on inside it.
constexpr std::string_view kPipelineRuleInGroups = "bottom-up";

TreeParameters ordered(std::string_view rule, bool multi_leader, Shape within, Bytes segment_bytes) {
    TreeParameters parameters;
    parameters.rule = rule;
    parameters.between = {{kFlatShape, multi_leader}};
    parameters.within = within;
    parameters.segment_bytes = segment_bytes;
    return parameters;
}

/// The parameters of a tree that has been looked for here; nullptr for any other candidate.
const TreeParameters* tree_in(const Candidate& candidate) {
    const auto* tree = dynamic_cast<const TreeAlgorithm*>(candidate.algorithm.get());
    return tree != nullptr ? &tree->parameters() : nullptr;
}

/// Adds to `settled` the orders of candidates `now` that need no larger segments, as `smaller` ones tell.
/// Both hold two for each order, one after the other.
void settle(std::span<const Candidate> now, std::span<const Candidate> smaller,
            std::vector<SendOrder>& settled) {
    double fastest = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : now) fastest = std::min(fastest, candidate.seconds);
    const auto is_settled = [&](const Candidate& here, const Candidate& before) {
        const bool grows = here.seconds > kNearlyEqual * before.seconds;
        const bool hardly_falls = kNearlyEqual * here.seconds > before.seconds;
        return grows || (hardly_falls && here.seconds > kHopeless * fastest);
    };
    for (std::size_t i = 0; i < now.size(); i += 2) {
        const auto here = now.subspan(i, 2);
        const SendOrder& order = tree_in(here[0])->order;
        for (std::size_t j = 0; j < smaller.size(); j += 2) {
            const auto before = smaller.subspan(j, 2);
            if (tree_in(before[0])->order != order) continue;
            if (is_settled(here[0], before[0]) && is_settled(here[1], before[1])) settled.push_back(order);
            break;
        }
    }
}

/// Where there is nothing to order. Two as well, for the lanes that begin with the second one.
void add_in_one_cluster(Pricing& pricing, Shape within, Bytes segment_bytes, std::vector<Candidate>& found) {
    for (const bool multi_leader : {false, true}) {
        TreeParameters parameters;
        parameters.between = {{within, multi_leader}};
        parameters.within = within;
        parameters.segment_bytes = segment_bytes;
        found.push_back(priced_tree(pricing, std::move(parameters), {}));
    }
}

/// Trees of one kind whose order is found by each of `rules`, two for each: no such rule cares where messages
/// leave a cluster. Rules that find the same order have the same prices. Not those of `settled` orders.
void add_orders(Pricing& pricing, std::span<const std::string_view> rules, Shape within, Bytes segment_bytes,
                std::span<const SendOrder> settled, std::vector<Candidate>& found) {
    if (pricing.clusters() == 1) return add_in_one_cluster(pricing, within, segment_bytes, found);
    const ClusterTimes clusters = clusters_for(pricing, within, segment_bytes);
    const std::size_t first = found.size();
    for (const std::string_view rule : rules) {
        TreeParameters from_leader = ordered(rule, false, within, segment_bytes);
        from_leader.order = order_for(pricing, from_leader, clusters);
        const SendOrder order = from_leader.order;
        if (std::find(settled.begin(), settled.end(), order) != settled.end()) continue;
        std::size_t same = first;
        while (same < found.size() && tree_in(found[same])->order != order) same += 2;
        if (same < found.size()) {
            for (const std::size_t kind : {same, same + 1}) {
                Candidate candidate = found[kind];
                TreeParameters parameters = *tree_in(candidate);
                parameters.rule = rule;
                candidate.algorithm = std::make_shared<TreeAlgorithm>(std::move(parameters));
                found.push_back(std::move(candidate));
            }
        } else {
            TreeParameters from_several = from_leader;
            from_several.between.front().multi_leader = true;
            found.push_back(priced_tree(pricing, std::move(from_leader), order));
            found.push_back(priced_tree(pricing, std::move(from_several), order));
        }
    }
}

void add_undivided(Pricing& pricing, std::vector<Candidate>& found) {
    std::vector<std::string_view> rules = order_rules();
    std::erase(rules, kBestRule);
    std::erase(rules, kSlowLastRule);  // for pipelines
    add_orders(pricing, rules, pricing.best_local(), 0, {}, found);
}

/// Larger segments make the first one slower and all others faster, so the total first falls and then grows.
/// An order whose total grows is not tried with larger segments, nor one that is far behind and hardly falls.
void add_pipelines(Pricing& pricing, std::vector<Candidate>& found) {
    for (const Shape within : {kChainShape, kBinaryShape}) {
        std::vector<std::string_view> rules(kPipelineRules.begin(), kPipelineRules.end());
        if (pricing.machine().has_groups()) rules.push_back(kPipelineRuleInGroups);
        std::vector<SendOrder> settled;
        std::size_t before = found.size();
        for (const Bytes segment_bytes : pricing.segment_sizes()) {
            const std::size_t now = found.size();
            add_orders(pricing, rules, within, segment_bytes, settled, found);
            const std::span<const Candidate> smaller(found.data() + before, now - before);
            settle({found.data() + now, found.size() - now}, smaller, settled);
            before = now;
        }
    }
}

/// Beside a pipeline through all clusters that holds up several of them at a slow link, and is nearly the
/// best of its kind, the one that does not, for sizes of segments that have proved best for it.
void add_slow_last(Pricing& pricing, std::vector<Candidate>& found) {
    if (pricing.clusters() > kManyClusters) return;
    constexpr std::array<Bytes, 2> kUsualSegments{8192, 16384};
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double best = kNone;
    double best_that_holds_up = kNone;
    for (const Candidate& candidate : found) {
        if (!candidate.is_pipeline || tree_in(candidate) == nullptr) continue;
        if (tree_in(candidate)->rule != "nearest") continue;
        best = std::min(best, candidate.seconds);
        if (candidate.behind >= 2) best_that_holds_up = std::min(best_that_holds_up, candidate.seconds);
    }
    if (best == kNone || best_that_holds_up > kNearlyEqual * best) return;
    for (const Shape within : {kChainShape, kBinaryShape}) {
        for (const Bytes segment_bytes : kUsualSegments) {
            if (2 * segment_bytes > pricing.request().bytes()) continue;
            found.push_back(
                *TreeAlgorithm(ordered(kSlowLastRule, true, within, segment_bytes)).price(pricing));
        }
    }
}

/// The best multi-leader pipeline of one lane with that tree inside clusters; nullptr: there is none.
const Candidate* best_pipeline(std::span<const Candidate> found, Shape within) {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : found) {
        if (!candidate.is_pipeline || tree_in(candidate) == nullptr) continue;
        const TreeParameters& tree = *tree_in(candidate);
        if (!tree.is_multi_leader() || tree.within != within || tree.lanes > 1) continue;
        if (best == nullptr || candidate.seconds < best->seconds) best = &candidate;
    }
    return best;
}

double least_seconds(std::span<const Candidate> found) {
    double least = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : found) least = std::min(least, candidate.seconds);
    return least;
}

}  // namespace

void propose_trees(Pricing& pricing, std::vector<Candidate>& found) {
    add_undivided(pricing, found);
    if (pricing.request().bytes() < kLeastToCut) return;
    add_pipelines(pricing, found);
    add_slow_last(pricing, found);
}

void propose_lanes(Pricing& pricing, std::vector<Candidate>& found) {
    const int largest = pricing.largest_cluster();
    if (largest < kLeastToTakeTurns) return;
    for (const Shape within : {kChainShape, kBinaryShape}) {
        const Candidate* best = best_pipeline(found, within);
        if (best == nullptr) continue;
        // NICs of a chain have one message each already; a host may have several flows.
        const bool is_slow_flow = best->time.binding.kind == Binding::Kind::link;
        if (within == kChainShape && !is_slow_flow) continue;
        const int most = std::min(is_slow_flow ? 2 * largest : largest, kUsualLanes);
        if (best->time.first + (best->seconds - best->time.first) / most > least_seconds(found)) continue;
        const Candidate alone = *best;  // `found` grows
        for (int lanes = most; lanes > 1; lanes /= kFewer) {
            TreeParameters parameters = *tree_in(alone);
            parameters.lanes = lanes;
            const SendOrder order = parameters.order;
            Candidate candidate = priced_tree(pricing, std::move(parameters), order);
            if ((is_slow_flow ? kLeastGain : kNearlyEqual) * candidate.seconds > alone.seconds) break;
            found.push_back(std::move(candidate));
        }
    }
}

namespace {

/// Adds the tree of `found[best]` in the best order, unless the rule that it has finds that too.
void add_best_order(Pricing& pricing, std::size_t best, std::vector<Candidate>& found) {
    TreeParameters parameters = *tree_in(found[best]);
    parameters.rule = kBestRule;
    parameters.order =
        order_for(pricing, parameters, clusters_for(pricing, parameters.within, parameters.segment_bytes));
    const SendOrder order = parameters.order;
    Candidate candidate = priced_tree(pricing, std::move(parameters), order);
    // The name of the rule that finds the same order says more.
    if (candidate.seconds < found[best].seconds) found.push_back(std::move(candidate));
}

}  // namespace

/// Of the fastest tree; where that passes on whole messages, and these are large, of the fastest pipeline as
/// well: moving clusters makes up for more there.
void propose_best_order(Pricing& pricing, std::vector<Candidate>& found) {
    const auto is_ordered = [](const Candidate& candidate) {
        return !candidate.algorithm->order().empty() || candidate.algorithm->takes_turns();
    };
    // The search does not cover lanes.
    const auto is_tree = [](const Candidate& candidate) {
        return tree_in(candidate) != nullptr && candidate.algorithm->lanes() == 1;
    };
    const auto best =
        std::min_element(found.begin(), found.end(), [&](const Candidate& a, const Candidate& b) {
            return is_ordered(a) != is_ordered(b) ? is_ordered(a) : a.seconds < b.seconds;
        });
    if (pricing.clusters() == 1 || best == found.end() || !is_tree(*best)) return;
    // No order can make up for that.
    const double most = kHopeless * least_seconds(found);
    const auto place = static_cast<std::size_t>(best - found.begin());
    std::size_t pipeline = found.size();
    for (std::size_t i = 0; best->segment_bytes() == 0 && i < found.size(); ++i) {
        if (!is_tree(found[i]) || !is_ordered(found[i]) || found[i].segment_bytes() == 0) continue;
        if (pipeline == found.size() || found[i].seconds < found[pipeline].seconds) pipeline = i;
    }
    const bool has_pipeline = pipeline < found.size() && found[pipeline].seconds <= most;
    if (best->seconds <= most) add_best_order(pricing, place, found);
    if (has_pipeline) add_best_order(pricing, pipeline, found);
}

}  // namespace laple
