// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/candidates.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "collectives/burst_price.hpp"
#include "collectives/hierarchy.hpp"
#include "collectives/meeting_price.hpp"
#include "collectives/native_price.hpp"
#include "collectives/order_rule.hpp"
#include "collectives/regional_price.hpp"
#include "collectives/relayed.hpp"
#include "collectives/scatter_price.hpp"

namespace laple {
namespace {

const Shape kFlat{Shape::Kind::flat};
const Shape kBinomial{Shape::Kind::binomial};
const Shape kBinary{Shape::Kind::kary, 2};
const Shape kChain{Shape::Kind::chain};

// Above the rendezvous threshold of most transports, segments pay for handshakes; below 4 KiB, for overheads.
constexpr std::array<Bytes, 5> kSegments{4096, 8192, 16384, 32768, 65536};
constexpr Bytes kLeastToCut = 16 * 1024;
constexpr int kMostLanes = 16;
constexpr std::size_t kMostRegions = 8;
constexpr int kMostToRelay = 16;      // clusters, between which relays are looked for
constexpr int kLongChain = 8;         // messages one after the other
constexpr double kLeastGain = 1.1;    // by lanes that share a link
constexpr int kFewer = 4;             // so many times fewer the next time
constexpr int kLeastToTakeTurns = 3;  // ranks of a cluster: with two, the root's other one does it all

/// Rules for the order of a pipeline, whose segments cost little: those that differ from each other then.
constexpr std::array<std::string_view, 3> kPipelineRules{"jackson", "ecef-la-max", "nearest"};

/// Where clusters are in groups, also one that gives a group its copy and lets it spread it.
constexpr std::string_view kPipelineRuleInGroups = "bottom-up";

/// What takes so many times as long as the fastest is not worth a closer look.
constexpr double kHopeless = 1.5;

/// With many clusters a look at every segment size would cost more than it brings.
constexpr int kManyClusters = 24;
constexpr std::array<Bytes, 2> kFewSegments{8192, 32768};

/// Among many clusters without groups, looking for regions would cost more than it brings.
bool may_meet_in_regions(const Request& request, const Topology& topology, const NetworkCosts& costs) {
    if (is_rooted(request.collective) || request.bytes() < kLeastToCut) return false;
    return topology.level_count() > 1 || costs.count() <= kManyClusters;
}

std::span<const Bytes> segments_for(int clusters) {
    if (clusters > kManyClusters) return kFewSegments;
    return kSegments;
}

Algorithm ordered(std::string_view rule, bool spread, Shape within, Bytes segment_bytes) {
    Algorithm algorithm;
    algorithm.order = rule;
    algorithm.between = {{kFlat, spread}};
    algorithm.within = within;
    algorithm.segment_bytes = segment_bytes;
    return algorithm;
}

Algorithm meeting(Meeting how, Shape within, Bytes segment_bytes, int lanes) {
    Algorithm algorithm;
    algorithm.meeting = how;
    algorithm.within = within;
    algorithm.segment_bytes = segment_bytes;
    algorithm.lanes = lanes;
    return algorithm;
}

bool is_spread(const Algorithm& algorithm) {
    return !algorithm.between.empty() && algorithm.between.front().spread;
}

std::uint64_t segments_of(const Request& request, Bytes segment_bytes) {
    return Blocks::cut(request.units, request.unit_bytes, segment_bytes).count();
}

/// How many ranks each innermost cluster has.
std::vector<int> cluster_sizes(const Topology& topology) {
    std::vector<int> sizes;
    const int level = topology.level_count() - 1;
    for (int cluster = 0; cluster < topology.group_count(level); ++cluster)
        sizes.push_back(static_cast<int>(topology.members(level, cluster).size()));
    return sizes;
}

std::vector<int> cluster_of_rank(const Topology& topology) {
    std::vector<int> clusters;
    for (Rank rank = 0; rank < topology.size(); ++rank)
        clusters.push_back(topology.group_of(topology.level_count() - 1, rank));
    return clusters;
}

/// Clusters that pass the message on to others, having got it themselves: each may be late.
std::ptrdiff_t relays(const Candidate& candidate) {
    if (!candidate.relays.empty()) return 1;  // of each segment
    if (candidate.order.empty()) return 0;
    const int root = candidate.order.front().from;
    return std::count_if(candidate.order.begin(), candidate.order.end(),
                         [root](const Send& send) { return send.from != root; });
}

/// With so many lanes all ranks of a cluster, however many it has, coordinate about as many of them. More
/// than that are not worth their names.
Bytes fair_lanes(const std::vector<int>& sizes) {
    constexpr int kFair = 64;
    constexpr int kMost = 1024;  // as names may have (algorithm.cpp)
    int lanes = 1;
    for (const int size : sizes) {
        lanes = std::lcm(lanes, size);
        if (lanes > kFair) {
            const int largest = *std::max_element(sizes.begin(), sizes.end());
            return static_cast<Bytes>(std::clamp(largest, kFair, kMost));
        }
    }
    return static_cast<Bytes>(lanes);
}

/// How large segments are, as far as it matters: processors need some 10 us for each, which is nothing where
/// segments come this far apart.
Bytes calm(const Candidate& candidate) {
    constexpr double kFarApart = 1e-3;
    constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
    if (candidate.algorithm.segment_bytes == 0) return kMost;
    return candidate.time.interval >= kFarApart ? kMost - 1 : candidate.algorithm.segment_bytes;
}

/// The fastest first, else in the old order. Places are sorted, and each candidate is moved once.
std::vector<Candidate> sorted(std::vector<Candidate> candidates) {
    std::vector<std::size_t> places(candidates.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        return candidates[a].seconds < candidates[b].seconds;
    });
    std::vector<Candidate> result;
    result.reserve(candidates.size());
    for (const std::size_t place : places) result.push_back(std::move(candidates[place]));
    return result;
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
        for (std::size_t j = 0; j < smaller.size(); j += 2) {
            const auto before = smaller.subspan(j, 2);
            if (before[0].order != here[0].order) continue;
            if (is_settled(here[0], before[0]) && is_settled(here[1], before[1]))
                settled.push_back(here[0].order);
            break;
        }
    }
}

/// Whether the busiest NIC is idle for half of the time at least.
bool rests(const Candidate& candidate) {
    return candidate.time.sustained <= candidate.seconds / 2;
}

/// Clusters whose copies pass a link, or the uplink of a cluster; 0 for what is no such thing.
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

bool is_pipeline(const Candidate& candidate) {
    return candidate.algorithm.segment_bytes > 0 && !candidate.algorithm.order.empty();
}

/// Whether both are pipelines and the busiest NIC of `a` has clearly less to do than that of `b`, which
/// hardly rests. One that is never idle holds up all that come after it whenever it falls behind, and there
/// may be several on the way.
bool is_calmer(const Candidate& a, const Candidate& b) {
    constexpr double kClearly = 0.75;
    return is_pipeline(a) && is_pipeline(b) && !rests(b) && a.time.sustained < kClearly * b.time.sustained;
}

/// Whether both are pipelines that links between clusters hold up, and fewer clusters get what has passed
/// that link in `a`: it is never idle, so all of them wait for each delay there.
bool holds_up_fewer(const Candidate& a, const Candidate& b) {
    return is_pipeline(a) && is_pipeline(b) && a.behind > 0 && a.behind < b.behind;
}

/// Whether both let NICs rest, so that what ranks take to pass a message on counts most, and fewer of them do
/// so one after the other in `a`.
bool is_shorter(const Candidate& a, const Candidate& b) {
    constexpr int kClearlyFewer = 4;
    return rests(a) && rests(b) && a.hops + kClearlyFewer <= b.hops;
}

/// Fewer copies between groups; calmer NICs; clearly fewer ranks that wait for each other; fewer clusters
/// behind the link that holds up all; an undivided message, or segments large enough; fewer clusters that
/// wait for others; fewer connections.
bool is_simpler(const Candidate& a, const Candidate& b) {
    if (a.crossings != b.crossings) return a.crossings < b.crossings;
    for (const auto& is_better : {is_calmer, is_shorter, holds_up_fewer}) {
        if (is_better(a, b)) return true;
        if (is_better(b, a)) return false;
    }
    if (calm(a) != calm(b)) return calm(a) > calm(b);
    if (relays(a) != relays(b)) return relays(a) < relays(b);
    return a.algorithm.lanes < b.algorithm.lanes;
}

}  // namespace

bool is_near(const Candidate& candidate, const Candidate& fastest) {
    const double factor = is_calmer(candidate, fastest) ? kNearlyEqualIfCalmer : kNearlyEqual;
    return candidate.seconds <= factor * fastest.seconds;
}

const Candidate* best_of(const std::vector<Candidate>& found,
                         const std::function<bool(const Algorithm&)>& may_use) {
    const Candidate* fastest = nullptr;
    const Candidate* best = nullptr;
    const Candidate* native = nullptr;
    for (const Candidate& candidate : found) {
        const bool is_native = candidate.algorithm.is_native;
        if (!may_use(candidate.algorithm)) continue;
        if (is_native) native = &candidate;
        if (is_native || (fastest != nullptr && !is_near(candidate, *fastest))) continue;
        // The larger allowance is for calmer NICs alone.
        const bool is_late = fastest != nullptr && candidate.seconds > kNearlyEqual * fastest->seconds;
        if (is_late && !is_calmer(candidate, *best)) continue;
        if (fastest == nullptr) fastest = &candidate;
        if (best == nullptr || is_simpler(candidate, *best)) best = &candidate;
    }
    if (best == nullptr) return native;
    if (native == nullptr) return best;
    if (fastest->seconds >= kWorthwhile * native->seconds) return native;
    return best->seconds < native->seconds ? best : fastest;
}

Pricing::Pricing(const Request& request, const Topology& topology, const NetworkCosts& costs)
    : request_(request),
      topology_(topology),
      costs_(costs),
      root_cluster_(topology.group_of(topology.level_count() - 1, tree_root(request))),
      pricer_(cluster_sizes(topology)),
      groups_(groups_of_clusters(topology)),
      regions_(may_meet_in_regions(request, topology, costs) ? regions_by_latency(topology, costs)
                                                             : RegionList()) {}

/// With so many all ranks of a cluster do as much in regional meetings (regions.hpp); 1 where that would take
/// too many: of lanes that load some ranks more than others the price knows nothing, and 88 ranks in clusters
/// of 31, 29, 6, 1, 1 and 20 took five times as long in SimGrid as it says.
Bytes Pricing::lanes_in_regions() const {
    std::vector<int> sizes = pricer_.sizes();
    for (const auto& region : regions_) {
        int ranks = 0;
        for (const int cluster : region) ranks += pricer_.sizes()[static_cast<std::size_t>(cluster)];
        sizes.push_back(ranks);
    }
    const Bytes lanes = fair_lanes(sizes);
    const bool is_fair = std::all_of(sizes.begin(), sizes.end(),
                                     [&](int size) { return lanes % static_cast<Bytes>(size) == 0; });
    return is_fair ? lanes : 1;
}

/// The times of the segments that the message is cut into.
const SegmentTimes& Pricing::times(Bytes segment_bytes, SegmentTimes::Direction direction) {
    const Blocks blocks = Blocks::cut(request_.units, request_.unit_bytes, segment_bytes);
    const Bytes bytes = blocks.bytes_in(0);
    const auto use = blocks.count() > 1 ? SegmentTimes::Use::stream : SegmentTimes::Use::single;
    for (const auto& known : times_) {
        if (known->bytes == bytes && known->use == use && known->direction == direction) return known->times;
    }
    times_.push_back(std::make_unique<Times>(
        Times{bytes, use, direction, SegmentTimes(costs_, groups_, bytes, use, direction)}));
    return times_.back()->times;
}

/// In the direction in which the tree is ordered: from the root, but for a reduction.
const SegmentTimes& Pricing::times_of_tree(Bytes segment_bytes) {
    return times(segment_bytes, request_.collective == Collective::reduce
                                    ? SegmentTimes::Direction::reduction
                                    : SegmentTimes::Direction::broadcast);
}

Candidate Pricing::tree(Algorithm algorithm, SendOrder order) {
    const std::uint64_t segments = segments_of(request_, algorithm.segment_bytes);
    ClusterTree tree{std::move(order), is_spread(algorithm), algorithm.within, algorithm.lanes};
    const SegmentTimes& down = times_of_tree(algorithm.segment_bytes);
    Candidate candidate;
    candidate.time =
        is_rooted(request_.collective)
            ? pricer_.broadcast(tree, root_cluster_, segments, down)
            : pricer_.there_and_back(tree, root_cluster_, segments, down,
                                     times(algorithm.segment_bytes, SegmentTimes::Direction::reduction));
    candidate.crossings =
        static_cast<int>(std::count_if(tree.order.begin(), tree.order.end(), [&down](const Send& send) {
            return !down.has_trunks() || down.group_of(send.from) != down.group_of(send.to);
        }));
    candidate.seconds = candidate.time.last;
    candidate.hops = hops_in(algorithm.within);
    candidate.behind = clusters_behind(candidate.time.binding, tree.order);
    candidate.algorithm = std::move(algorithm);
    candidate.order = std::move(tree.order);
    return candidate;
}

/// Trees in lanes that clusters relay in turn, which take no longer than `most`.
std::optional<Candidate> Pricing::relayed(Algorithm algorithm, const std::function<int(int)>& lanes_for,
                                          double most) {
    Relayed found = relayed_time(algorithm.within, lanes_for, root_cluster_,
                                 segments_of(request_, algorithm.segment_bytes),
                                 times_of_tree(algorithm.segment_bytes), pricer_, most);
    if (found.relays.empty()) return std::nullopt;
    Candidate candidate;
    candidate.time = found.time;
    candidate.crossings = costs_.count() - 1;
    candidate.seconds = found.time.last;
    candidate.hops = hops_in(algorithm.within);
    candidate.relays = std::move(found.relays);
    candidate.algorithm = std::move(algorithm);
    candidate.algorithm.lanes = found.lanes;
    return candidate;
}

/// Messages one after the other, at most, inside the largest cluster.
int Pricing::hops_in(Shape within) {
    const auto& sizes = pricer_.sizes();
    return pricer_.members(within, *std::max_element(sizes.begin(), sizes.end())).deepest;
}

SendOrder Pricing::order_for(const Algorithm& algorithm, const ClusterTimes& clusters) {
    const ClusterTree around{{}, is_spread(algorithm), algorithm.within};
    return order_by(algorithm.order, around, root_cluster_, segments_of(request_, algorithm.segment_bytes),
                    clusters, times_of_tree(algorithm.segment_bytes), pricer_);
}

SendOrder Pricing::order_for(const Algorithm& algorithm) {
    return order_for(algorithm, clusters_for(algorithm.within, algorithm.segment_bytes));
}

ClusterTimes Pricing::clusters_for(Shape within, Bytes segment_bytes) {
    return cluster_times(within, segments_of(request_, segment_bytes), times_of_tree(segment_bytes), pricer_);
}

/// Of the undivided message, in the cluster where it takes longest.
Shape Pricing::best_local() {
    if (best_local_) return *best_local_;
    const SegmentTimes& segment = times_of_tree(0);
    const auto longest = [&](Shape shape) {
        double time = 0;
        for (int cluster = 0; cluster < costs_.count(); ++cluster)
            time = std::max(time, pricer_.local(cluster, shape, 1, segment));
        return time;
    };
    best_local_ = kBinomial;
    double shortest = longest(kBinomial);
    for (const Shape shape : {kFlat, kBinary, kChain}) {
        const double time = longest(shape);
        if (time >= shortest) continue;
        shortest = time;
        best_local_ = shape;
    }
    return *best_local_;
}

/// Trees of one kind whose order is found by each of `rules`, two for each: no such rule cares where messages
/// leave a cluster. Rules that find the same order have the same prices. Not those of `settled` orders.
void Pricing::add_orders(std::span<const std::string_view> rules, Shape within, Bytes segment_bytes,
                         std::span<const SendOrder> settled, std::vector<Candidate>& found) {
    const ClusterTimes clusters = clusters_for(within, segment_bytes);
    const std::size_t first = found.size();
    for (const std::string_view rule : rules) {
        Algorithm from_coordinator = ordered(rule, false, within, segment_bytes);
        SendOrder order = order_for(from_coordinator, clusters);
        if (std::find(settled.begin(), settled.end(), order) != settled.end()) continue;
        std::size_t same = first;
        while (same < found.size() && found[same].order != order) same += 2;
        if (same < found.size()) {
            for (const std::size_t kind : {same, same + 1}) {
                Candidate candidate = found[kind];
                candidate.algorithm.order = rule;
                found.push_back(std::move(candidate));
            }
        } else {
            found.push_back(tree(std::move(from_coordinator), order));
            found.push_back(tree(ordered(rule, true, within, segment_bytes), std::move(order)));
        }
    }
}

void Pricing::add_trees(std::vector<Candidate>& found) {
    std::vector<std::string_view> rules = order_rules();
    std::erase(rules, kBestRule);
    std::erase(rules, kSlowLastRule);  // for pipelines
    add_orders(rules, best_local(), 0, {}, found);
}

/// The larger the segments, the longer the first takes to everybody and the less all others take: the sum is
/// taken to fall first, and then to grow. An order whose sum grows is not tried with larger segments, nor one
/// that is far behind and hardly falls.
void Pricing::add_pipelines(std::vector<Candidate>& found) {
    if (request_.bytes() < kLeastToCut) return;
    for (const Shape within : {kChain, kBinary}) {
        std::vector<std::string_view> rules(kPipelineRules.begin(), kPipelineRules.end());
        if (topology_.level_count() > 1) rules.push_back(kPipelineRuleInGroups);
        std::vector<SendOrder> settled;
        std::size_t before = found.size();
        for (const Bytes segment_bytes : segments_for(costs_.count())) {
            if (2 * segment_bytes > request_.bytes()) break;
            const std::size_t now = found.size();
            add_orders(rules, within, segment_bytes, settled, found);
            const std::span<const Candidate> smaller(found.data() + before, now - before);
            settle({found.data() + now, found.size() - now}, smaller, settled);
            before = now;
        }
    }
}

/// Beside the best pipeline through all clusters that holds up several of them at a slow link, the one that
/// does not, for sizes of segments that have proved best for it.
void Pricing::add_slow_last(std::vector<Candidate>& found) {
    if (costs_.count() > kManyClusters) return;
    constexpr std::array<Bytes, 2> kUsualSegments{8192, 16384};
    const Candidate* best = nullptr;
    for (const Candidate& candidate : found) {
        if (candidate.algorithm.order != "nearest" || !is_pipeline(candidate)) continue;
        if (best == nullptr || candidate.seconds < best->seconds) best = &candidate;
    }
    if (best == nullptr || best->behind < 2) return;
    for (const Shape within : {kChain, kBinary}) {
        for (const Bytes segment_bytes : kUsualSegments) {
            if (2 * segment_bytes <= request_.bytes())
                found.push_back(*price(ordered(kSlowLastRule, true, within, segment_bytes)));
        }
    }
}

/// The best pipeline of each kind in several lanes, where that may be the fastest of all and is no little
/// gain. Flows that share a link have unequal parts of it, and all wait for the slowest one: what lanes gain
/// there must be more than that.
void Pricing::add_lanes(std::vector<Candidate>& found) {
    const auto& sizes = pricer_.sizes();
    const int largest = *std::max_element(sizes.begin(), sizes.end());
    if (largest < kLeastToTakeTurns) return;
    for (const Shape within : {kChain, kBinary}) {
        const Candidate* best = nullptr;
        double fastest = std::numeric_limits<double>::infinity();
        for (const Candidate& candidate : found) {
            const Algorithm& algorithm = candidate.algorithm;
            fastest = std::min(fastest, candidate.seconds);
            if (algorithm.segment_bytes == 0 || !is_spread(algorithm) || algorithm.within != within) continue;
            if (algorithm.lanes == 1 && (best == nullptr || candidate.seconds < best->seconds))
                best = &candidate;
        }
        if (best == nullptr) continue;
        // NICs of a chain have one message each already; a rank may have several flows.
        const bool is_slow_flow = best->time.binding.kind == Binding::Kind::link;
        if (within == kChain && !is_slow_flow) continue;
        const int most = std::min(is_slow_flow ? 2 * largest : largest, kMostLanes);
        if (best->time.first + (best->seconds - best->time.first) / most > fastest) continue;
        const Candidate alone = *best;  // `found` grows
        for (int lanes = most; lanes > 1; lanes /= kFewer) {
            Algorithm algorithm = alone.algorithm;
            algorithm.lanes = lanes;
            Candidate candidate = tree(std::move(algorithm), alone.order);
            if ((is_slow_flow ? kLeastGain : kNearlyEqual) * candidate.seconds > alone.seconds) break;
            found.push_back(std::move(candidate));
        }
    }
}

/// Where there are as many segments as lanes that are fair to all ranks, and it may be the fastest of all.
void Pricing::add_relayed(std::vector<Candidate>& found) {
    if (request_.collective != Collective::bcast || request_.bytes() < kLeastToCut) return;
    const int clusters = costs_.count();
    if (clusters < 3 || clusters > kMostToRelay || topology_.level_count() > 1) return;
    double fastest = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : found) fastest = std::min(fastest, candidate.seconds);
    const std::vector<int>& sizes = pricer_.sizes();
    const int behind_root = std::max(sizes[static_cast<std::size_t>(root_cluster_)] - 1, 1);
    for (const Bytes segment_bytes : segments_for(clusters)) {
        const std::uint64_t segments = segments_of(request_, segment_bytes);
        const auto lanes_for = [&](int relays) {
            if (relays == 1) return 0;
            // All members of a relay get its lanes in turn, and all of the root's cluster send them out.
            std::vector<int> parts{behind_root};
            for (const int size : sizes) parts.push_back(relays * size);
            const Bytes fair = fair_lanes(parts);
            const Bytes lanes = fair - fair % static_cast<Bytes>(relays);
            return lanes <= segments ? static_cast<int>(lanes) : 0;
        };
        for (const Shape within : {kChain, kBinary}) {
            // A branching tree loads NICs alike on average only, a chain at every moment; but it is not deep.
            if (within == kBinary && hops_in(kChain) < kLongChain) continue;
            if (auto candidate =
                    relayed(ordered(kRelayedRule, true, within, segment_bytes), lanes_for, fastest))
                found.push_back(std::move(*candidate));
        }
    }
}

/// Whether a NIC is long busy with a single segment. In lanes a rank is coordinator of one block in so many,
/// and with such segments ranks wait for each other's turns: over 100 Mbit/s 64 KiB took 6 to 14 % longer
/// than 16 or 8, 32 KiB 3 %.
bool Pricing::is_coarse(Bytes segment_bytes) {
    constexpr Bytes kNever = 16 * 1024;
    constexpr Bytes kShort = 8 * 1024;
    constexpr double kMuchLonger = 1.5e-3;  // for its bytes, whatever the overhead of a message
    if (segment_bytes <= kNever) return false;
    const SegmentTimes& segment = times(segment_bytes, SegmentTimes::Direction::broadcast);
    const SegmentTimes& shorter = times(kShort, SegmentTimes::Direction::broadcast);
    for (int c = 0; c < costs_.count(); ++c) {
        if (pricer_.sizes()[static_cast<std::size_t>(c)] < 2) continue;
        if (segment.port(c, c) - shorter.port(c, c) > kMuchLonger) return true;
    }
    return false;
}

void Pricing::add_meetings(std::vector<Candidate>& found) {
    if (is_rooted(request_.collective)) return;
    const auto add = [&](const Algorithm& algorithm) { found.push_back(*price(algorithm)); };
    const Shape within = best_local();
    add(meeting(Meeting::exchange, within, 0, 1));
    add(meeting(Meeting::doubling, within, 0, 1));
    if (request_.bytes() < kLeastToCut) return;
    const auto& sizes = pricer_.sizes();
    const int largest = std::min(*std::max_element(sizes.begin(), sizes.end()), kMostLanes);
    const Bytes fair = fair_lanes(sizes);
    const Bytes in_regions = regions_.empty() || regions_.size() > kMostRegions ? 1 : lanes_in_regions();
    for (const Bytes segment_bytes : segments_for(costs_.count())) {
        if (2 * segment_bytes > request_.bytes()) break;
        for (const Shape shape : {kChain, kBinary}) add(meeting(Meeting::exchange, shape, segment_bytes, 1));
        if (is_coarse(segment_bytes)) continue;
        if (in_regions > 1 && in_regions * segment_bytes <= request_.bytes())
            add(meeting(Meeting::regional, kFlat, segment_bytes, static_cast<int>(in_regions)));
        if (topology_.level_count() > 1) continue;
        for (int lanes = 2; lanes <= largest; lanes *= 2)
            add(meeting(Meeting::exchange, kFlat, segment_bytes, lanes));
        if (largest > 1 && costs_.count() > 2 && fair * segment_bytes <= request_.bytes())
            add(meeting(Meeting::scatter, kFlat, segment_bytes, static_cast<int>(fair)));
    }
}

/// The best order for what is the best algorithm so far.
void Pricing::add_best_orders(std::vector<Candidate>& found) {
    const auto best =
        std::min_element(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
            const bool is_tree_a = !a.algorithm.order.empty();
            const bool is_tree_b = !b.algorithm.order.empty();
            return is_tree_a != is_tree_b ? is_tree_a : a.seconds < b.seconds;
        });
    // The search knows no lanes.
    if (best == found.end() || best->algorithm.order.empty() || best->algorithm.lanes > 1) return;
    // No order makes up for that.
    if (std::any_of(found.begin(), found.end(),
                    [&](const Candidate& other) { return kHopeless * other.seconds < best->seconds; }))
        return;
    Algorithm algorithm = best->algorithm;
    algorithm.order = kBestRule;
    SendOrder order = order_for(algorithm);
    Candidate candidate = tree(std::move(algorithm), std::move(order));
    // The name of the rule that finds the same says more.
    if (candidate.seconds < best->seconds) found.push_back(std::move(candidate));
}

Candidate Pricing::native() {
    Candidate candidate;
    candidate.algorithm = Algorithm::native();
    const NativePrice price = native_price(request_, cluster_of_rank(topology_), costs_);
    candidate.is_measured = price.is_measured;
    candidate.seconds = price.seconds;
    candidate.time.last = candidate.seconds;
    return candidate;
}

std::optional<Candidate> Pricing::price(const Algorithm& algorithm) {
    if (algorithm.is_native) return native();
    if (algorithm.native_within) return std::nullopt;
    if (algorithm.meeting != Meeting::tree) {
        const std::uint64_t segments = segments_of(request_, algorithm.segment_bytes);
        const SegmentTimes& up = times(algorithm.segment_bytes, SegmentTimes::Direction::reduction);
        const SegmentTimes& down = times(algorithm.segment_bytes, SegmentTimes::Direction::broadcast);
        MeetingTime meeting;
        Candidate candidate;
        if (algorithm.meeting == Meeting::scatter) {
            if (algorithm.within != kFlat || algorithm.lanes == 1 || topology_.level_count() > 1)
                return std::nullopt;
            SharedMeeting shared = share_meeting(algorithm.lanes, segments, pricer_.sizes(), up, down);
            meeting = shared.time;
            candidate.shares = std::move(shared.shares);
        } else if (algorithm.meeting == Meeting::regional) {
            if (algorithm.within != kFlat || algorithm.lanes == 1) return std::nullopt;
            RegionList regions = regions_.empty() ? regions_by_latency(topology_, costs_) : regions_;
            if (regions.empty()) regions = groups_;
            meeting = regional_time(algorithm.lanes, segments, pricer_.sizes(), regions, up, down);
            candidate.regions = std::move(regions);
        } else {
            meeting = meeting_time(algorithm, segments, groups_, up, down, pricer_);
        }
        meeting.total += stall_of(algorithm,
                                  {static_cast<double>(request_.bytes()), pricer_.sizes(), groups_,
                                   candidate.shares, candidate.regions},
                                  costs_);
        candidate.algorithm = algorithm;
        candidate.hops = hops_in(algorithm.within);
        candidate.seconds = meeting.total;
        // In a scatter each passes an uplink less than twice, in all; in regions a known number of times.
        candidate.crossings = static_cast<int>(groups_.size()) - 1;
        if (algorithm.meeting == Meeting::scatter) candidate.crossings = 1;
        if (algorithm.meeting == Meeting::regional) {
            const double copies = copies_in_regions(pricer_.sizes(), candidate.regions);
            candidate.crossings = std::max(static_cast<int>(copies), 1);
        }
        candidate.time.first = meeting.first;
        candidate.time.last = meeting.total;
        candidate.time.interval = meeting.interval;
        candidate.time.binding = meeting.binding;
        return candidate;
    }
    if (algorithm.order == kRelayedRule) {
        const auto as_given = [&](int relays) { return relays <= algorithm.lanes ? algorithm.lanes : 0; };
        return relayed(algorithm, as_given);
    }
    if (!algorithm.order.empty()) return tree(algorithm, order_for(algorithm));
    if (topology_.level_count() > 1) return std::nullopt;
    // A shape over the clusters in their order, the root's first (hierarchy.hpp).
    return tree(algorithm, order_of_shape(algorithm.between.front().shape, costs_.count(), root_cluster_));
}

std::vector<Candidate> Pricing::all() {
    constexpr std::size_t kUsual = 128;
    std::vector<Candidate> found;
    found.reserve(kUsual);
    add_trees(found);
    add_pipelines(found);
    add_slow_last(found);
    add_meetings(found);
    add_lanes(found);
    add_relayed(found);
    add_best_orders(found);
    found.push_back(native());
    return sorted(std::move(found));
}

}  // namespace laple
