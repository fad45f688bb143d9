// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/tree.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/tree_part.hpp"
#include "collectives/algorithms/tree_search.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/cost/order_rule.hpp"
#include "collectives/trees/host_tree.hpp"

namespace laple {
namespace {

/// Takes "ecef" or "multi-leader-ecef"; false for anything else.
bool take_rule(std::string_view level, TreeParameters& parameters) {
    const bool is_multi_leader = level.starts_with(kMultiLeader);
    const std::string_view rule = is_multi_leader ? level.substr(kMultiLeader.size()) : level;
    if (!is_order_rule(rule)) return false;
    parameters.rule = rule;
    parameters.between.push_back({kFlatShape, is_multi_leader});
    return true;
}

void refuse_senseless(const AlgorithmName& name, const TreeParameters& parameters) {
    if (!parameters.rule.empty() && parameters.between.size() > 1)
        refuse_name(name,
                    fmt::format("\"{}\" orders all clusters: it stands for all levels but the innermost",
                                parameters.rule));
    if (parameters.native_within && parameters.between.empty())
        refuse_name(name, "a tree between clusters is missing");
    if (parameters.native_within && parameters.segment_bytes > 0)
        refuse_name(name, "native within takes no segments");
    if (parameters.native_within && parameters.lanes > 1) refuse_name(name, "native within takes no lanes");
    const bool may_have_lanes =
        parameters.segment_bytes > 0 && parameters.between.size() == 1 && parameters.is_multi_leader();
    if (parameters.lanes > 1 && !may_have_lanes) {
        refuse_name(name,
                    "lanes need \"direct-exchange\", \"recursive-doubling\", \"rsag\", \"three-level\", "
                    "\"scatter-allgather\", or one multi-leader- tree and segments");
    }
}

/// Clusters whose copies pass a link, or the uplink of a cluster; 0 for any other binding.
int clusters_behind(const Binding& binding, const SendOrder& order) {
    const bool is_link = binding.kind == Binding::Kind::link;
    if (!is_link && binding.kind != Binding::Kind::uplink) return 0;
    std::vector<int> behind;
    if (is_link) behind.push_back(binding.b);
    for (const Send& send : order) {
        const bool is_next = (!is_link && send.from == binding.a) ||
                             std::find(behind.begin(), behind.end(), send.from) != behind.end();
        if (is_next) behind.push_back(send.to);
    }
    return static_cast<int>(behind.size());
}

int relays_in(const SendOrder& order) {
    if (order.empty()) return 0;
    const int root = order.front().from;
    return static_cast<int>(
        std::count_if(order.begin(), order.end(), [root](const Send& send) { return send.from != root; }));
}

int crossings_of(const SendOrder& order, const SegmentTimes& times) {
    return static_cast<int>(std::count_if(order.begin(), order.end(), [&](const Send& send) {
        return !times.has_trunks() || times.group_of(send.from) != times.group_of(send.to);
    }));
}

/// What segments up and down the same tree lose at their beginning: on the slowest way between clusters, of a
/// flow, or of all that leaves a cluster; by the longest latency.
double time_against(const SendOrder& order, const SegmentTimes& down, const SegmentTimes& up,
                    const Pricing& pricing) {
    double slowest = 0;
    double longest = 0;
    std::vector<int> messages(static_cast<std::size_t>(down.count()));
    for (const auto& [from, to] : order) {
        const int of_cluster = ++messages[static_cast<std::size_t>(from)];
        longest = std::max(longest, down.latency(from, to));
        for (const SegmentTimes* times : {&down, &up})
            slowest = std::max({slowest, times->gap(from, to), of_cluster * times->uplink_out(from)});
    }
    return pricing.costs().ramp_against(longest, static_cast<double>(pricing.request().bytes()),
                                        down.seconds_a_byte(slowest));
}

}  // namespace

AlgorithmPtr parse_tree(const AlgorithmName& name, Collective) {
    TreeParameters parameters;
    parameters.segment_bytes = name.segment_bytes;
    parameters.lanes = name.lanes;
    for (std::size_t i = 0; i + 1 < name.levels.size(); ++i) {
        if (!take_rule(name.levels[i], parameters))
            parameters.between.push_back(parse_level(name, name.levels[i]));
    }
    if (name.last() == kNativeName) {
        parameters.native_within = true;
    } else {
        const LevelShape level = parse_level(name, name.last());
        if (level.multi_leader) refuse_name(name, "the innermost tree cannot have several leaders");
        parameters.within = level.shape;
        if (parameters.between.empty()) parameters.between.push_back(level);
    }
    refuse_senseless(name, parameters);
    return std::make_shared<TreeAlgorithm>(std::move(parameters));
}

std::string TreeAlgorithm::name() const {
    std::string name;
    for (const LevelShape& level : parameters_.between) {
        name += parameters_.rule.empty()
                    ? name_of(level)
                    : fmt::format("{}{}", level.multi_leader ? kMultiLeader : "", parameters_.rule);
        name += '/';
    }
    name += parameters_.native_within ? std::string(kNativeName) : name_of(parameters_.within);
    return name + name_suffix(parameters_.segment_bytes, parameters_.lanes);
}

std::string TreeAlgorithm::details() const {
    if (parameters_.order.empty()) return {};
    std::string text = " order";
    for (const Send& send : parameters_.order) text += fmt::format(" {}>{}", send.from, send.to);
    return text;
}

bool TreeAlgorithm::can_do(const Request& request, const Machine& machine) const {
    if (parameters_.native_within && machine.cluster_count() == 1) return false;
    if (parameters_.lanes > 1 && machine.has_groups() && parameters_.rule.empty()) return false;
    if (!row_of(request.collective).combines || request.commutative) return true;
    if (!parameters_.rule.empty() || !machine.has_consecutive_ranks()) return false;
    // Lanes have other leaders than the smallest rank, and with them trees that wrap around.
    if (parameters_.lanes > 1) return false;
    if (parameters_.native_within) {
        return std::none_of(parameters_.between.begin(), parameters_.between.end(),
                            [](const LevelShape& level) { return level.multi_leader; });
    }
    return keeps_rank_order(one_tree(request, machine));
}

std::string TreeAlgorithm::in_words() const {
    if (parameters_.native_within)
        return "clusters use MPI's own collective inside, their leaders a tree between them";
    if (parameters_.lanes == 1) return "a tree over all hosts";
    return fmt::format("segments take turns between {} trees, in which hosts of a cluster change places",
                       parameters_.lanes);
}

std::string TreeAlgorithm::kind() const {
    if (parameters_.order.empty()) return Algorithm::kind();
    TreeParameters by_order = parameters_;
    by_order.rule = details();
    return TreeAlgorithm(std::move(by_order)).Algorithm::kind();
}

std::optional<Tree> TreeAlgorithm::tree(const Request& request, const Machine& machine) const {
    if (parameters_.lanes > 1) return lane_trees(request, machine).tree(0);
    return one_tree(request, machine);
}

LaneTrees TreeAlgorithm::lane_trees(const Request& request, const Machine& machine) const {
    const Rank root = tree_root(request);
    const SendOrder order = parameters_.order.empty()
                                ? order_of_shape(parameters_.between.front().shape, machine.cluster_count(),
                                                 machine.cluster_of_rank(root))
                                : parameters_.order;
    return {machine, {order}, parameters_.lanes, parameters_.within, root};
}

Tree TreeAlgorithm::one_tree(const Request& request, const Machine& machine) const {
    const Rank root = tree_root(request);
    const Shape on_host = shape_on_host(parameters_.segment_bytes > 0);
    if (!parameters_.order.empty())
        return ordered_tree(machine, parameters_.order, parameters_.is_multi_leader(), parameters_.within,
                            on_host, root);
    return hierarchical_tree(
        machine, {parameters_.between, parameters_.within, on_host, parameters_.native_within}, root);
}

void TreeAlgorithm::write_steps(const Part& part, ScheduleBuilder& builder) const {
    const Segments segments = this->segments(part.request);
    if (parameters_.lanes == 1) {
        const Tree all = one_tree(part.request, part.machine);
        return TreePart(part, segments, all, parameters_.native_within, builder).write();
    }
    const LaneTrees trees = lane_trees(part.request, part.machine);
    TreePart(part, segments, trees, parameters_.lanes, builder).write();
}

Candidate priced_tree(Pricing& pricing, TreeParameters parameters, const SendOrder& of_shape) {
    const SendOrder& order = parameters.order.empty() ? of_shape : parameters.order;
    const Bytes segment_bytes = parameters.segment_bytes;
    const std::uint64_t segments = pricing.segments(segment_bytes);
    const ClusterTree tree{order, parameters.is_multi_leader(), parameters.within, parameters.lanes};
    const SegmentTimes& down = pricing.times_of_tree(segment_bytes);
    const int root = pricing.root_cluster();
    Candidate candidate;
    if (row_of(pricing.request().collective).is_rooted) {
        candidate.time = pricing.pricer().broadcast(tree, root, segments, down);
    } else {
        const SegmentTimes& up = pricing.times(segment_bytes, SegmentTimes::Direction::reduction);
        candidate.time = pricing.pricer().there_and_back(tree, root, segments, down, up);
        if (segments > 1) candidate.time.against = time_against(order, down, up, pricing);
    }
    candidate.crossings = crossings_of(order, down);
    candidate.seconds = candidate.time.last + candidate.time.against;
    candidate.hops = pricing.hops_in(parameters.within);
    candidate.behind = clusters_behind(candidate.time.binding, order);
    candidate.relays = relays_in(order);
    candidate.is_pipeline = segment_bytes > 0 && (!parameters.rule.empty() || pricing.clusters() == 1);
    candidate.algorithm = std::make_shared<TreeAlgorithm>(std::move(parameters));
    return candidate;
}

SendOrder order_for(Pricing& pricing, const TreeParameters& parameters, const ClusterTimes& clusters) {
    const ClusterTree around{{}, parameters.is_multi_leader(), parameters.within};
    return order_by(parameters.rule, around, pricing.root_cluster(),
                    pricing.segments(parameters.segment_bytes), clusters,
                    pricing.times_of_tree(parameters.segment_bytes), pricing.pricer());
}

ClusterTimes clusters_for(Pricing& pricing, Shape within, Bytes segment_bytes) {
    return cluster_times(within, pricing.segments(segment_bytes), pricing.times_of_tree(segment_bytes),
                         pricing.pricer());
}

std::optional<Candidate> TreeAlgorithm::price(Pricing& pricing) const {
    if (parameters_.native_within) return std::nullopt;
    TreeParameters priced = parameters_;
    if (!priced.rule.empty()) {
        priced.order = order_for(pricing, priced, clusters_for(pricing, priced.within, priced.segment_bytes));
        return priced_tree(pricing, std::move(priced));
    }
    if (pricing.machine().has_groups()) return std::nullopt;
    // A shape over the clusters in their order, the root's first (hierarchy.hpp).
    const Shape shape = priced.between.front().shape;
    return priced_tree(pricing, std::move(priced),
                       order_of_shape(shape, pricing.clusters(), pricing.root_cluster()));
}

}  // namespace laple
