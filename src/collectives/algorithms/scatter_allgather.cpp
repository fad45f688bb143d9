// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/scatter_allgather.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/algorithms/tree_part.hpp"
#include "collectives/collective/collective.hpp"

namespace laple {
namespace {

constexpr int kMostToRelay = 16;  // clusters, between which relays are looked for
constexpr int kLongChain = 8;     // messages one after the other

/// Segments of a lane, at least: prices take lanes for alike, but some have a segment more than others.
/// Between four sites of four hosts 1 MiB in 12 lanes was predicted to take 101 ms with any segments; with 5
/// a lane, or 6, it took 105, with 2 or 3 114, with 1 or 2 150.
constexpr Bytes kLeastOfLane = 4;

/// What holds up all segments but the first one, and by how much.
struct Hold {
    double interval = 0;
    double others = 0;
    double sustained = 0;
    Binding binding;
};

class Relaying {
  public:
    Relaying(int root, std::uint64_t segments, const SegmentTimes& times, const std::vector<int>& sizes)
        : root_(root), more_(static_cast<double>(segments - 1)), times_(times), sizes_(sizes) {
        for (int c = 0; c < count(); ++c) {
            if (c != root_) best_first_.push_back(c);
        }
        std::stable_sort(best_first_.begin(), best_first_.end(), [&](int a, int b) {
            const std::pair<double, double> of_a{relay_time(a), farness(a)};
            return of_a < std::pair(relay_time(b), farness(b));
        });
    }

    std::vector<int> relays(int number) const { return {best_first_.begin(), best_first_.begin() + number}; }

    /// From the root's cluster over `relay` to the last one.
    double farness(int relay) const {
        double farthest = 0;
        for (int to = 0; to < count(); ++to) {
            if (to != root_ && to != relay) farthest = std::max(farthest, trip(relay, to));
        }
        return trip(root_, relay) + farthest;
    }

    Hold hold(const std::vector<int>& relays, int lanes) const {
        Hold hold;
        std::vector<double> share(sizes_.size(), 0);  // of all lanes
        const int number = static_cast<int>(relays.size());
        for (int i = 0; i < number; ++i) {
            const int theirs = lanes / number + (i < lanes % number ? 1 : 0);
            share[at(relays[at(i)])] = static_cast<double>(theirs) / lanes;
        }
        hold_up_at_root(share, hold);
        for (int c = 0; c < count(); ++c) {
            if (c == root_) continue;
            at_least(share[at(c)] * (count() - 2) * times_.uplink_out(c), 0, {Binding::Kind::uplink, c, -1},
                     hold);
            of_port(c, ((size(c) - 1) * times_.port(c, c) + share[at(c)] * ports(c)) / size(c), hold);
            hold_up_on_the_way_in(c, share, lanes, hold);
        }
        return hold;
    }

  private:
    int count() const { return times_.count(); }
    double size(int c) const { return sizes_[at(c)]; }
    double trip(int from, int to) const { return times_.gap(from, to) + times_.latency(from, to); }

    /// Of messages to all others but the root's cluster.
    double ports(int relay) const {
        double all = 0;
        for (int to = 0; to < count(); ++to) {
            if (to != root_ && to != relay) all += times_.port(relay, to);
        }
        return all;
    }

    double relay_time(int relay) const {
        return std::max((count() - 2) * times_.uplink_out(relay), ports(relay) / size(relay));
    }

    void hold_up_at_root(const std::vector<double>& share, Hold& hold) const {
        double out = 0;
        for (int c = 0; c < count(); ++c) {
            if (share[at(c)] > 0) out += share[at(c)] * times_.port(root_, c);
        }
        at_least(times_.uplink_out(root_), 0, {Binding::Kind::uplink, root_, -1}, hold);
        if (size(root_) == 1) return of_port(root_, out, hold);
        of_port(root_, times_.port(root_, root_), hold);
        of_port(root_, ((size(root_) - 2) * times_.port(root_, root_) + out) / (size(root_) - 1), hold);
    }

    /// Flows from all relays, and from the root for what `c` relays itself; every rank gets each segment
    /// once.
    void hold_up_on_the_way_in(int c, const std::vector<double>& share, int lanes, Hold& hold) const {
        double in = (size(c) - 1) * times_.port(c, c);
        for (int relay = 0; relay < count(); ++relay) {
            const double part = share[at(relay)];
            if (part <= 0) continue;
            const int from = relay == c ? root_ : relay;
            const double senders = from == root_ ? std::max(size(from) - 1, 1.0) : size(from);
            const double flows = std::min({part * lanes, senders * size(c), more_ + 1});
            at_least(part * times_.gap(from, c) / flows, times_.credit_of_flow(from, c),
                     {Binding::Kind::link, from, c}, hold, times_.ramp(from, c, part * (more_ + 1) / flows));
            const double trunk = times_.trunk(times_.group_of(from), times_.group_of(c));
            at_least(part * trunk, 0, {Binding::Kind::link, from, c}, hold);
            at_least(times_.uplink_in(c), 0, {Binding::Kind::link, from, c}, hold);
            in += part * times_.port(from, c);
        }
        of_port(c, in / size(c), hold);
    }

    void of_port(int c, double busy, Hold& hold) const {
        at_least(busy, times_.credit(c), {Binding::Kind::port, c, c}, hold);
        hold.sustained = std::max(hold.sustained, (more_ + 1) * busy - times_.usual_credit(c));
    }

    /// The first segment has had its part of the credit.
    void at_least(double interval, double credit, const Binding& binding, Hold& hold, double ramp = 0) const {
        const double others = ramp + std::max(more_ * interval - std::max(credit - interval, 0.0), 0.0);
        if (others < hold.others || (others == hold.others && interval <= hold.interval)) return;
        hold.interval = interval;
        hold.others = others;
        hold.binding = binding;
    }

    int root_;
    double more_;
    const SegmentTimes& times_;
    const std::vector<int>& sizes_;
    std::vector<int> best_first_;
};

/// What takes no longer than `most`.
std::optional<Candidate> priced(Pricing& pricing, Shape within, Bytes segment_bytes,
                                const std::function<int(int)>& lanes_for,
                                double most = std::numeric_limits<double>::infinity()) {
    Relayed found = relayed_time(within, lanes_for, pricing.root_cluster(), pricing.segments(segment_bytes),
                                 pricing.times_of_tree(segment_bytes), pricing.pricer(), most);
    if (found.relays.empty()) return std::nullopt;
    Candidate candidate;
    candidate.time = found.time;
    add_time_on_hosts(pricing, segment_bytes, candidate.time);
    candidate.crossings = pricing.clusters() - 1;
    candidate.seconds = candidate.time.last;
    candidate.hops = pricing.hops_in(within);
    candidate.relays = 1;  // of each segment
    candidate.is_pipeline = true;
    candidate.algorithm =
        std::make_shared<ScatterAllgather>(within, segment_bytes, found.lanes, std::move(found.relays));
    return candidate;
}

}  // namespace

AlgorithmPtr parse_scatter_allgather(const AlgorithmName& name, Collective) {
    if (name.first() != "scatter-allgather") return nullptr;
    if (name.levels.size() != 2) refuse_name(name, "scatter-allgather takes one LEVEL, inside the clusters");
    const LevelShape within = parse_level(name, name.last());
    if (within.multi_leader) refuse_name(name, "the innermost tree cannot have several leaders");
    if (name.segment_bytes == 0 || name.lanes == 1)
        refuse_name(name, "it needs segments and lanes, such as scatter-allgather/chain@8Kx12");
    return std::make_shared<ScatterAllgather>(within.shape, name.segment_bytes, name.lanes,
                                              std::vector<int>());
}

std::string ScatterAllgather::name() const {
    return fmt::format("scatter-allgather/{}{}", name_of(within_), name_suffix(segment_bytes_, lanes_));
}

std::string ScatterAllgather::details() const {
    return relays_.empty() ? std::string() : fmt::format(" relays {}", fmt::join(relays_, " "));
}

bool ScatterAllgather::can_do(const Request&, const Machine& machine) const {
    return machine.cluster_count() > 1 && !machine.has_groups();
}

std::optional<Candidate> ScatterAllgather::price(Pricing& pricing) const {
    const auto as_given = [&](int relays) { return relays <= lanes_ ? lanes_ : 0; };
    return priced(pricing, within_, segment_bytes_, as_given);
}

std::string ScatterAllgather::in_words() const {
    const std::string whom =
        relays_.empty() ? "another cluster" : fmt::format("one of clusters {}", fmt::join(relays_, ", "));
    return fmt::format("each of {} lanes is passed on to all other clusters by {}, in turn", lanes_, whom);
}

std::optional<Tree> ScatterAllgather::tree(const Request& request, const Machine& machine) const {
    return trees(request, machine).tree(0);
}

LaneTrees ScatterAllgather::trees(const Request& request, const Machine& machine) const {
    const int clusters = machine.cluster_count();
    const int root_cluster = machine.cluster_of_rank(request.root);
    std::vector<SendOrder> orders;
    for (const int relay : relays_) orders.push_back(relayed_order(root_cluster, relay, clusters));
    for (int relay = 0; relays_.empty() && relay < clusters; ++relay) {
        if (relay != root_cluster) orders.push_back(relayed_order(root_cluster, relay, clusters));
    }
    return {machine, orders, lanes_, within_, request.root};
}

void ScatterAllgather::write_steps(const Part& part, ScheduleBuilder& builder) const {
    const LaneTrees trees = this->trees(part.request, part.machine);
    TreePart(part, segments(part.request), trees, lanes_, builder).write();
}

void propose_scatter_allgather(Pricing& pricing, std::vector<Candidate>& found) {
    const int clusters = pricing.clusters();
    if (pricing.request().bytes() < kLeastToCut || pricing.machine().has_groups()) return;
    if (clusters < 3 || clusters > kMostToRelay) return;
    double fastest = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : found) fastest = std::min(fastest, candidate.seconds);
    const std::vector<int>& sizes = pricing.sizes();
    const int behind_root = std::max(sizes[at(pricing.root_cluster())] - 1, 1);
    for (const Bytes segment_bytes : pricing.segment_sizes()) {
        const std::uint64_t segments = pricing.segments(segment_bytes);
        const auto lanes_for = [&](int relays) {
            if (relays == 1) return 0;
            // All hosts of a relay get its lanes in turn, and all of the root's cluster send them out.
            std::vector<int> parts{behind_root};
            for (const int size : sizes) parts.push_back(relays * size);
            const Bytes fair = fair_lanes(parts);
            const Bytes lanes = fair - fair % static_cast<Bytes>(relays);
            return kLeastOfLane * lanes <= segments ? static_cast<int>(lanes) : 0;
        };
        for (const Shape within : {kChainShape, kBinaryShape}) {
            // A branching tree loads NICs alike on average only, a chain at every moment; but it is not deep.
            if (within == kBinaryShape && pricing.hops_in(kChainShape) < kLongChain) continue;
            if (auto candidate = priced(pricing, within, segment_bytes, lanes_for, fastest))
                found.push_back(std::move(*candidate));
        }
    }
}

SendOrder relayed_order(int root, int relay, int clusters) {
    SendOrder order{{root, relay}};
    for (int step = 1; step < clusters; ++step) {
        const int to = (relay + step) % clusters;
        if (to != root) order.push_back({relay, to});
    }
    return order;
}

Relayed relayed_time(Shape within, const std::function<int(int relays)>& lanes_for, int root,
                     std::uint64_t segments, const SegmentTimes& times, TreePricer& pricer, double most) {
    const Relaying relaying(root, segments, times, pricer.sizes());
    Relayed best;
    Hold least;
    double fastest = most;
    int farthest = -1;  // of the best relays
    for (int number = 1; number < times.count(); ++number) {
        const int lanes = lanes_for(number);
        if (lanes == 0) continue;
        std::vector<int> relays = relaying.relays(number);
        const Hold hold = relaying.hold(relays, lanes);
        const int last = *std::max_element(relays.begin(), relays.end(), [&](int a, int b) {
            return relaying.farness(a) < relaying.farness(b);
        });
        const double time = std::max(relaying.farness(last) + hold.others, hold.sustained);
        if (time >= fastest) continue;
        fastest = time;
        farthest = last;
        least = hold;
        best = {std::move(relays), lanes, {}};
    }
    if (best.relays.empty()) return best;
    const ClusterTree tree{relayed_order(root, farthest, times.count()), true, within, best.lanes};
    const TreeTime farthest_lane = pricer.broadcast(tree, root, segments, times);
    best.time.first = farthest_lane.first;
    best.time.last_cluster = farthest_lane.last_cluster;
    best.time.interval = least.interval;
    best.time.others = least.others;
    best.time.binding = least.binding;
    best.time.sustained = least.sustained;
    best.time.last = std::max(best.time.first + least.others, least.sustained);
    if (best.time.last > most) best.relays.clear();
    return best;
}

}  // namespace laple
