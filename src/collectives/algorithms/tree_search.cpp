// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/tree_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "collectives/cost/order_rule.hpp"

namespace laple {
namespace {

constexpr double kLeastGain = 1.05;   // by lanes that share a link
constexpr int kFewer = 4;             // so many times fewer the next time
constexpr int kLeastToTakeTurns = 3;  // hosts of a cluster: with two, NICs have the same to do in any order

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
        found.push_back(priced_tree(pricing, std::move(parameters)));
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
        if (std::find(settled.begin(), settled.end(), from_leader.order) != settled.end()) continue;
        std::size_t same = first;
        while (same < found.size() && tree_in(found[same])->order != from_leader.order) same += 2;
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
            found.push_back(priced_tree(pricing, std::move(from_leader)));
            found.push_back(priced_tree(pricing, std::move(from_several)));
        }
    }
}

double least_seconds(std::span<const Candidate> found) {
    double least = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : found) least = std::min(least, candidate.seconds);
    return least;
}

/// Where the message can be cut, the first rule tells whether trees of whole messages are worth a look.
void add_undivided(Pricing& pricing, double best_pipeline, std::vector<Candidate>& found) {
    std::vector<std::string_view> rules = order_rules();
    std::erase(rules, kBestRule);
    std::erase(rules, kSlowLastRule);  // for pipelines
    if (best_pipeline > 0 && pricing.clusters() > 1) {
        const std::size_t before = found.size();
        add_orders(pricing, std::span(rules).first(1), pricing.best_local(), 0, {}, found);
        if (least_seconds(std::span(found).subspan(before)) > kHopeless * best_pipeline) return;
        found.resize(before);
    }
    add_orders(pricing, rules, pricing.best_local(), 0, {}, found);
}

/// Larger segments make the first one slower and all others faster, so the total first falls and then grows.
/// An order whose total grows is not tried with larger segments, nor one that is far behind and hardly falls.
void add_pipelines(Pricing& pricing, std::vector<Candidate>& found) {
    std::vector<Shape> shapes{kChainShape, kBinaryShape};
    if (pricing.costs().link(0, 0).is_memory()) shapes.push_back(kFlatShape);
    for (const Shape within : shapes) {
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
/// best of its kind, the one that does not, with the same tree inside clusters, for sizes of segments that
/// have proved best for it.
void add_slow_last(Pricing& pricing, std::vector<Candidate>& found) {
    if (pricing.clusters() > kManyClusters) return;
    constexpr std::array<Bytes, 2> kUsualSegments{8192, 16384};
    const auto best_nearest = [&](auto is_meant) {
        double best = std::numeric_limits<double>::infinity();
        for (const Candidate& candidate : found) {
            const TreeParameters* tree = tree_in(candidate);
            if (candidate.is_pipeline && tree != nullptr && tree->rule == "nearest" && is_meant(candidate))
                best = std::min(best, candidate.seconds);
        }
        return best;
    };
    const double most = kNearlyEqual * best_nearest([](const Candidate&) { return true; });
    for (const Shape within : {kChainShape, kBinaryShape}) {
        const double that_holds_up = best_nearest([&](const Candidate& candidate) {
            return candidate.behind >= 2 && tree_in(candidate)->within == within;
        });
        if (that_holds_up > most || std::isinf(that_holds_up)) continue;
        for (const Bytes segment_bytes : kUsualSegments) {
            if (2 * segment_bytes > pricing.request().bytes()) continue;
            found.push_back(
                *TreeAlgorithm(ordered(kSlowLastRule, true, within, segment_bytes)).price(pricing));
        }
    }
}

/// What is left of the time of a pipeline when so many lanes share what comes after the first segment.
double in_lanes(const Candidate& candidate, int lanes) {
    return candidate.time.first + (candidate.seconds - candidate.time.first) / lanes;
}

/// The multi-leader pipeline with that tree inside clusters that is best in so many lanes, as far as can be
/// said without them; nullptr: there is none.
const Candidate* best_pipeline(std::span<const Candidate> found, Shape within, int lanes) {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : found) {
        if (!candidate.is_pipeline || tree_in(candidate) == nullptr) continue;
        const TreeParameters& tree = *tree_in(candidate);
        if (!tree.is_multi_leader() || tree.within != within || tree.lanes > 1) continue;
        if (best == nullptr || in_lanes(candidate, lanes) < in_lanes(*best, lanes)) best = &candidate;
    }
    return best;
}

/// That pipeline in lanes, as long as they gain something. NICs of a chain have one message each already; but
/// where flows are slow, a host may have several.
void add_lanes(Pricing& pricing, const Candidate alone, std::vector<Candidate>& found) {
    const int largest = pricing.largest_cluster();
    const bool is_slow_flow = alone.time.binding.kind == Binding::Kind::link;
    const bool is_of_use = largest >= kLeastToTakeTurns && tree_in(alone)->within != kChainShape;
    if (!is_slow_flow && !is_of_use) return;
    const int most = std::min(is_slow_flow ? 2 * largest : largest, kUsualLanes);
    if (in_lanes(alone, most) > least_seconds(found)) return;
    for (int lanes = most; lanes > 1; lanes /= kFewer) {
        TreeParameters parameters = *tree_in(alone);
        parameters.lanes = lanes;
        Candidate candidate = priced_tree(pricing, std::move(parameters));
        if ((is_slow_flow ? kLeastGain : kNearlyEqual) * candidate.seconds > alone.seconds) break;
        found.push_back(std::move(candidate));
    }
}

}  // namespace

void propose_trees(Pricing& pricing, std::vector<Candidate>& found) {
    if (pricing.request().bytes() >= kLeastToCut) {
        add_pipelines(pricing, found);
        add_slow_last(pricing, found);
        add_undivided(pricing, least_seconds(found), found);
    } else {
        add_undivided(pricing, 0, found);
    }
}

void propose_lanes(Pricing& pricing, std::vector<Candidate>& found) {
    const int largest = pricing.largest_cluster();
    if (largest < 2) return;
    for (const Shape within : {kChainShape, kBinaryShape}) {
        const Candidate* best = best_pipeline(found, within, 1);
        if (best == nullptr) continue;
        const int lanes = std::min(largest, kUsualLanes);
        const Candidate* promising = best_pipeline(found, within, lanes);
        const Candidate alone = *best;  // `found` grows
        const Candidate other = *promising;
        add_lanes(pricing, alone, found);
        if (kNearlyEqual * in_lanes(other, lanes) < in_lanes(alone, lanes)) add_lanes(pricing, other, found);
    }
}

namespace {

/// Adds the tree of `found[best]` in the best order, unless the rule that it has finds that too.
void add_best_order(Pricing& pricing, std::size_t best, std::vector<Candidate>& found) {
    TreeParameters parameters = *tree_in(found[best]);
    parameters.rule = kBestRule;
    parameters.order =
        order_for(pricing, parameters, clusters_for(pricing, parameters.within, parameters.segment_bytes));
    Candidate candidate = priced_tree(pricing, std::move(parameters));
    // The name of the rule that finds the same order says more.
    if (candidate.seconds < found[best].seconds) found.push_back(std::move(candidate));
}

}  // namespace

/// Of the fastest tree, and of the fastest pipelines: the order that is best for one is not for another.
void propose_best_order(Pricing& pricing, std::vector<Candidate>& found) {
    if (pricing.clusters() == 1) return;
    // No order can make up for that.
    const double most = kHopeless * least_seconds(found);
    const auto fastest = [&](auto is_meant) {
        std::size_t best = found.size();
        for (std::size_t i = 0; i < found.size(); ++i) {
            const TreeParameters* tree = tree_in(found[i]);
            // The search does not cover lanes.
            if (tree == nullptr || tree->lanes > 1 || tree->order.empty() || !is_meant(found[i])) continue;
            if (found[i].seconds <= most && (best == found.size() || found[i].seconds < found[best].seconds))
                best = i;
        }
        return best;
    };
    std::vector<std::size_t> places{fastest([](const Candidate&) { return true; })};
    for (const Shape within : {kChainShape, kBinaryShape}) {
        if (pricing.clusters() > kManyClusters) continue;
        places.push_back(fastest([&](const Candidate& candidate) {
            return candidate.is_pipeline && tree_in(candidate)->within == within;
        }));
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const std::size_t count = found.size();
    for (const std::size_t place : places) {
        if (place < count) add_best_order(pricing, place, found);
    }
}

}  // namespace laple
