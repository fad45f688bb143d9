// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "collectives/candidates.hpp"
#include "collectives/hierarchy.hpp"

namespace laple {
namespace {

// Which algorithm is good for which size, from measurements on four sites 10 ms apart with 100 Mbit/s hosts
// (wan4x4 of laple-grid). A message is small while its transfer time is small against the latency between
// clusters; it is large when a pipeline's extra latencies are small against the transfer time.
constexpr Bytes kSmall = 8 * 1024;
constexpr Bytes kLargeRooted = 256 * 1024;
constexpr Bytes kLargeAllreduce = 512 * 1024;

// The same for large clusters, in which a chain takes long to fill: from simulations of 88 ranks in clusters
// of up to 31 with 120 MB/s a host (bench/smpi, grid5000-88).
constexpr std::size_t kLargeCluster = 8;  // more ranks than this
constexpr Bytes kTiny = 2 * 1024;
constexpr Bytes kMiddle = 64 * 1024;
constexpr Bytes kHuge = 8 * 1024 * 1024;

// Below every rendezvous threshold seen: above it, each segment pays a round trip before its data may go.
constexpr Bytes kSegment = 8 * 1024;
constexpr Bytes kShortSegment = 4 * 1024;  // where few segments have many ranks to pass

Algorithm trees(LevelShape between, Shape within, Bytes segment_bytes) {
    Algorithm algorithm;
    algorithm.between = {between};
    algorithm.within = within;
    algorithm.segment_bytes = segment_bytes;
    return algorithm;
}

Algorithm exchange(Shape within, Bytes segment_bytes, int lanes) {
    Algorithm algorithm;
    algorithm.meeting = Meeting::exchange;
    algorithm.within = within;
    algorithm.segment_bytes = segment_bytes;
    algorithm.lanes = lanes;
    return algorithm;
}

const Shape kFlat{Shape::Kind::flat};
const Shape kChain{Shape::Kind::chain};
const Shape kBinomial{Shape::Kind::binomial};
const Shape kBinary{Shape::Kind::kary, 2};

/// One copy on each link between clusters, all sent at once: one latency.
Algorithm short_way() {
    return trees({kFlat, false}, kBinomial, 0);
}
/// The same with the copies sent by different ranks, in segments: one latency, two copies a NIC at most.
Algorithm spread_way() {
    return trees({kFlat, true}, kChain, kSegment);
}
/// One pipeline through all ranks: one copy a NIC, a latency for each cluster.
Algorithm pipeline() {
    return trees({kChain, true}, kChain, kSegment);
}

/// In large clusters: pipelines that branch, and so reach all ranks after few segments.
Algorithm branching_way() {
    return trees({kFlat, false}, kBinary, kShortSegment);
}
Algorithm spread_branching_way() {
    return trees({kFlat, true}, kBinary, kSegment);
}

/// Beyond some lanes the uplinks are full, and every lane costs each of its coordinators a message to all
/// others.
constexpr std::size_t kMaxLanes = 8;

int useful_lanes(const Topology& topology) {
    std::size_t largest = 1;
    for (const auto& group : outermost_groups(topology)) largest = std::max(largest, group.size());
    return static_cast<int>(std::min(largest, kMaxLanes));
}

bool has_large_clusters(const Topology& topology) {
    const int innermost = topology.level_count() - 1;
    for (int group = 0; group < topology.group_count(innermost); ++group) {
        if (topology.members(innermost, group).size() > kLargeCluster) return true;
    }
    return false;
}

std::vector<Algorithm> preferences_in_large_clusters(const Request& request) {
    const Bytes bytes = request.bytes();
    if (is_rooted(request.collective)) {
        if (bytes <= kTiny) return {short_way()};
        if (bytes <= kMiddle) return {branching_way(), short_way()};
        if (bytes <= kHuge) return {spread_branching_way(), branching_way(), short_way()};
        return {pipeline(), trees({kFlat, false}, kChain, kSegment), short_way()};
    }
    if (bytes <= kTiny) return {exchange(kBinomial, 0, 1), short_way()};
    if (bytes <= kMiddle) return {exchange(kBinary, kShortSegment, 1), short_way()};
    if (bytes <= kHuge) return {spread_branching_way(), exchange(kBinary, kSegment, 1), short_way()};
    return {pipeline(), exchange(kChain, kSegment, 1), short_way()};
}

/// The best first; the later ones are for operations that the earlier ones cannot do in order.
std::vector<Algorithm> preferences(const Request& request, const Topology& topology) {
    if (has_large_clusters(topology)) return preferences_in_large_clusters(request);
    const Bytes bytes = request.bytes();
    if (is_rooted(request.collective)) {
        if (bytes <= kSmall) return {short_way()};
        if (bytes <= kLargeRooted)
            return {spread_way(), trees({kFlat, false}, kChain, kSegment), short_way()};
        return {pipeline(), trees({kFlat, false}, kChain, kSegment), short_way()};
    }
    if (bytes <= kSmall) return {exchange(kBinomial, 0, 1), short_way()};
    if (bytes <= kLargeAllreduce) {
        return {exchange(kFlat, kSegment, useful_lanes(topology)), exchange(kChain, kSegment, 1),
                short_way()};
    }
    return {pipeline(), exchange(kChain, kSegment, 1), short_way()};
}

/// Twice what fills the longest and fastest flow in use: the bandwidth-delay product of a round trip. The NIC
/// of a rank in a lane has the others' segments to send, too.
Bytes window_for(const Plan& plan, const NetworkCosts& costs) {
    constexpr double kReserve = 2;
    constexpr double kLeast = 16.0 * 1024;
    constexpr double kMost = 8.0 * 1024 * 1024;
    const Bytes segment = std::max<Bytes>(plan.blocks().bytes_in(0), 1);
    double most = 0;
    const auto look_at = [&](int from, int to) {
        const NetworkCosts::Link& link = costs.link(from, to);
        const double nic = costs.cluster(from).nic_out;
        const double port = nic > 0 ? static_cast<double>(segment) / nic : 0;
        const bool takes_turns = plan.algorithm.meeting == Meeting::tree && plan.algorithm.lanes > 1;
        const double turn = takes_turns ? plan.algorithm.lanes * port : 0;
        const double gap = std::max({link.stream.at(segment).count(), turn, 1e-9});
        const double latency = link.latency + std::max(link.gap.at(segment).count() - gap, 0.0);
        most = std::max(most, kReserve * 2 * latency * static_cast<double>(segment) / gap);
    };
    for (const Send& send : plan.order) look_at(send.from, send.to);
    if (plan.order.empty()) {
        for (int a = 0; a < costs.count(); ++a) {
            for (int b = 0; b < costs.count(); ++b) {
                if (a != b) look_at(a, b);
            }
        }
    }
    return static_cast<Bytes>(std::clamp(most, kLeast, kMost));
}

/// What the NICs of a cluster send in so short a time that no one far away minds waiting for it.
std::vector<Bytes> pace_for(const NetworkCosts& costs) {
    constexpr double kShort = 5e-3;
    constexpr double kLeast = 64.0 * 1024;
    constexpr double kMost = 8.0 * 1024 * 1024;
    constexpr double kUsualNic = 25e6;  // where none is known
    std::vector<Bytes> pace;
    for (int c = 0; c < costs.count(); ++c) {
        const double nic = costs.cluster(c).nic_out;
        pace.push_back(static_cast<Bytes>(std::clamp(kShort * (nic > 0 ? nic : kUsualNic), kLeast, kMost)));
    }
    return pace;
}

/// What passes in so long a time that the results of what has gone are back by then, also where they have to
/// queue on their way: three times as much was enough for some networks, twice as much for none.
Bytes lead_for(const Request& request, const TreeTime& time) {
    constexpr double kEnough = 4;
    if (kEnough * time.first >= time.last) return 0;
    return static_cast<Bytes>(kEnough * time.first / time.last * static_cast<double>(request.bytes()));
}

/// The order between clusters where `algorithm` names a rule for it. Nothing where it cannot be priced.
std::optional<Plan> plan_of(const Algorithm& algorithm, const Request& request, const Topology& topology,
                            const NetworkCosts& costs) {
    Plan plan{request, algorithm, "asked for"};
    if (costs.is_empty() || !request.commutative)
        return algorithm.order.empty() ? std::optional(std::move(plan)) : std::nullopt;
    if (algorithm.meeting == Meeting::regional) plan.regions = regions_by_latency(topology, costs);
    if (auto priced = Pricing(request, topology, costs).price(algorithm)) {
        if (!algorithm.order.empty()) plan.order = std::move(priced->order);
        plan.shares = std::move(priced->shares);
        plan.regions = std::move(priced->regions);
        plan.relays = std::move(priced->relays);
        plan.predicted = Seconds(priced->seconds);
        plan.window_bytes = window_for(plan, costs);
        plan.pace_bytes = pace_for(costs);
        plan.lead_bytes = lead_for(request, priced->time);
    }
    return plan;
}

static_assert(kNearlyEqual == 1.04 && kNearlyEqualIfCalmer == 1.08 && kWorthwhile == 0.95,
              "reason_for says how near");

/// `best` of those candidates that are allowed, of which `fastest` is the first.
std::string reason_for(const Candidate& best, const Candidate& fastest, bool are_all_allowed) {
    const char* of_whom = are_all_allowed ? "" : " of what is allowed";
    if (&best == &fastest) return fmt::format("predicted the fastest{}", of_whom);
    if (best.algorithm.is_native) return fmt::format("nothing{} is predicted to be 5 % faster", of_whom);
    const int percent = best.seconds <= kNearlyEqual * fastest.seconds ? 4 : 8;
    return fmt::format("predicted within {} % of the fastest{}, and simpler", percent, of_whom);
}

/// Of an algorithm that rules ask for.
const char* why_not(const Algorithm& algorithm, const Request& request, const NetworkCosts& costs) {
    if (!algorithm.order.empty() && !request.commutative) return "does not keep the order of the ranks";
    if (!algorithm.order.empty() && costs.is_empty())
        return "orders clusters by rates, which are not known here: give LAPLE_MODEL what laple-discover "
               "--model wrote";
    return request.commutative ? "does not fit these clusters" : "does not keep the order of the ranks here";
}

Plan cheapest(const Request& request, const Topology& topology, const Rules& rules,
              const NetworkCosts& costs) {
    const auto found = Pricing(request, topology, costs).all();
    const auto may_use = [&](const Algorithm& algorithm) {
        return !rules.forbids(algorithm, request.collective, request.bytes());
    };
    const Candidate* best = best_of(found, may_use);
    if (best == nullptr)
        return {request, Algorithm::native(), "what LaPle would choose is forbidden in LAPLE_ALGORITHM"};
    const auto fastest = std::find_if(
        found.begin(), found.end(), [&](const Candidate& candidate) { return may_use(candidate.algorithm); });
    Plan plan{request, best->algorithm, reason_for(*best, *fastest, fastest == found.begin())};
    if (!best->algorithm.order.empty()) plan.order = best->order;
    plan.shares = best->shares;
    plan.regions = best->regions;
    plan.relays = best->relays;
    plan.predicted = Seconds(best->seconds);
    if (!plan.algorithm.is_native) {
        plan.window_bytes = window_for(plan, costs);
        plan.pace_bytes = pace_for(costs);
        plan.lead_bytes = lead_for(request, best->time);
    }
    return plan;
}

}  // namespace

Request size_class_of(Request request) {
    constexpr int kBits = 3;
    const int width = static_cast<int>(std::bit_width(request.units));
    if (width > kBits) request.units = request.units >> (width - kBits) << (width - kBits);
    return request;
}

Plan plan_in_fixed_order(Request request) {
    constexpr Bytes kSegment = 64 * 1024;
    if (request.bytes() == 0) return {request, Algorithm::native(), "no data"};
    if (request.bytes() > kMostPlannedBytes)
        return {request, Algorithm::native(), "2 GiB and more are left to MPI"};
    request.commutative = false;
    Algorithm algorithm;
    algorithm.within = Shape{Shape::Kind::binomial};
    algorithm.segment_bytes = request.bytes() > 2 * kSegment ? kSegment : 0;
    return {request, std::move(algorithm), "strict: one tree over the ranks"};
}

Plan choose_plan(const Request& request, const Topology& topology, const Rules& rules,
                 const NetworkCosts& costs) {
    if (topology.is_flat()) return {request, Algorithm::native(), "one cluster"};
    if (request.bytes() == 0 && request.collective != Collective::barrier) {
        return {request, Algorithm::native(), "no data"};
    }
    if (request.bytes() > kMostPlannedBytes)
        return {request, Algorithm::native(), "2 GiB and more are left to MPI"};
    std::string passed_over;
    const auto with_note = [&](Plan plan) {
        plan.passed_over = passed_over;
        return plan;
    };
    for (const Algorithm& algorithm : rules.wanted(request.collective, request.bytes())) {
        if (can_do(algorithm, request, topology)) {
            if (auto plan = plan_of(algorithm, request, topology, costs)) return with_note(std::move(*plan));
        }
        if (passed_over.empty())
            passed_over = fmt::format("{} {}", name_of(algorithm), why_not(algorithm, request, costs));
    }
    if (!costs.is_empty() && request.commutative) return with_note(cheapest(request, topology, rules, costs));
    const char* why_native = "nothing else can do it exactly";
    for (const Algorithm& algorithm : preferences(request, topology)) {
        if (!can_do(algorithm, request, topology)) continue;
        if (!rules.forbids(algorithm, request.collective, request.bytes()))
            return with_note({request, algorithm, "preferred for this size"});
        why_native = "what LaPle would choose is forbidden in LAPLE_ALGORITHM";
    }
    return with_note({request, Algorithm::native(), why_native});
}

}  // namespace laple
