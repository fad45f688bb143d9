// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/rsag.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "collectives/algorithms/phase_price.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/cost/nic_work.hpp"

namespace laple {
namespace {

/// Whose turn it is, of as many turns as the shares add up to: each has its share of them, evenly spaced. No
/// shares: all have one.
std::vector<std::size_t> turns(std::vector<int> shares, std::size_t count) {
    if (shares.empty()) shares.assign(count, 1);
    int common = 0;
    for (const int share : shares) common = std::gcd(common, share);
    for (int& share : shares) share /= common;
    const int all = std::accumulate(shares.begin(), shares.end(), 0);
    std::vector<int> due(shares.size(), 0);
    std::vector<std::size_t> owners;
    for (int turn = 0; turn < all; ++turn) {
        for (std::size_t i = 0; i < shares.size(); ++i) due[i] += shares[i];
        const auto next = std::max_element(due.begin(), due.end());
        *next -= all;
        owners.push_back(static_cast<std::size_t>(next - due.begin()));
    }
    return owners;
}

/// The leaders' part: every segment has an owner among them.
class RsagSteps final : public LeaderSteps {
  public:
    /// `owners`: of the segments of a lane in turn; then they begin anew.
    RsagSteps(LeaderPlace place, int lanes, std::vector<std::size_t> owners, ReceiveSlots& slots,
              ScheduleBuilder& builder)
        : LeaderSteps(std::move(place), slots, builder),
          lanes_(static_cast<std::uint32_t>(lanes)),
          owners_(std::move(owners)) {}

    void combine(std::uint32_t number, Region partial, Region result) override {
        if (self_ == LeaderPlace::kNone) return;
        if (owner_of(number) == self_) return add_up(partial, result);
        builder_.send(leaders_[owner_of(number)], partial, contributions(lane_));
    }

    void deliver(std::uint32_t number, Region result) override {
        if (root_ >= 0) return deliver_to_root(number, result);
        if (owner_of(number) != self_)
            return builder_.recv(leaders_[owner_of(number)], result, results(lane_));
        const std::size_t count = leaders_.size();
        for (std::size_t i = 1; i < count; ++i)
            builder_.send(leaders_[(self_ + i) % count], result, results(lane_));
    }

  private:
    /// The owner may be on the root's rank itself.
    void deliver_to_root(std::uint32_t number, Region result) {
        const Rank owner = leaders_[owner_of(number)];
        if (owner == root_) return;
        const bool is_leader = self_ != LeaderPlace::kNone;
        if (is_leader && leaders_[self_] == owner) return builder_.send(root_, result, results(lane_));
        if (!is_leader || leaders_[self_] == root_) builder_.recv(owner, result, results(lane_));
    }

    /// Each lane begins elsewhere in the order of owners: else some leaders would own more than others.
    std::size_t owner_of(std::uint32_t number) const {
        return owners_[(number / lanes_ + static_cast<std::uint32_t>(lane_)) % owners_.size()];
    }

    std::uint32_t lanes_;
    std::vector<std::size_t> owners_;
};

struct SharedTime {
    std::vector<int> shares;
    PhaseTime time;
};

/// How the leaders of clusters share the summing up, and how long the whole then takes: the best shares for
/// `lanes` lanes, flat inside clusters of `sizes` hosts. Every host of some clusters owns as much as any
/// other, of those clusters that are nearest to all others. Equal owners are served alike where flows share a
/// link; those of unequal ones would get ahead of each other, and all wait for the last. A cluster of n hosts
/// that owns the share w of the message m has b = m/min(n, lanes) on each leader, whose NIC sends
///
///     m - b       contributions to the other leaders of its cluster
///     b (1 - w)   partial results to those who own them
///     b w (C-1)   results to all other clusters
///     b (n-1)     results inside its cluster
///
/// and gets as much; an uplink passes m (1 - w) + m w (C-1) each way. The whole takes two latencies and the
/// time of the busiest uplink or link, or that of the busiest NIC, which has contributions to send and get
/// meanwhile (nic_work.hpp), after the first segments have passed, which wait for each other (beside()).
class Sharing {
  public:
    Sharing(int lanes, std::uint64_t segments, const std::vector<int>& sizes, const SegmentTimes& up,
            const SegmentTimes& down)
        : lanes_(lanes), segments_(static_cast<double>(segments)), sizes_(sizes), up_(up), down_(down) {
        for (int c = 0; c < count(); ++c) farness_.push_back(farness_of(c));
        by_farness_.resize(sizes.size());
        std::iota(by_farness_.begin(), by_farness_.end(), 0);
        std::stable_sort(by_farness_.begin(), by_farness_.end(),
                         [&](int a, int b) { return farness_[at(a)] < farness_[at(b)]; });
    }

    /// The best of what the 1, 2, 4, ... clusters nearest to the others make together.
    SharedTime best() const {
        SharedTime best;
        best.time.total = std::numeric_limits<double>::infinity();
        for (int owners = 1;; owners = std::min(2 * owners, count())) {
            const std::vector<int> shares = shares_of(owners);
            const PhaseTime time = time_of(shares);
            if (best.shares.empty() || time.total < best.time.total) best = {shares, time};
            if (owners == count()) return best;
        }
    }

  private:
    int count() const { return static_cast<int>(sizes_.size()); }

    /// What the NIC of the busiest leader of a cluster sends that owns such a share.
    NicWork sending(int c, double share) const {
        const Segments of = segments_at(c, share);
        double far = 0;  // a segment to another cluster, on average
        for (int o = 0; o < count(); ++o) far += o == c ? 0 : down_.port(c, o) / (count() - 1);
        return {of.contributed * down_.port(c, c) + of.given * far,
                of.led * down_.port(c, c) + of.owned * far};
    }

    /// What it gets.
    NicWork getting(int c, double share) const {
        const Segments of = segments_at(c, share);
        double far = 0;
        for (int o = 0; o < count(); ++o) far += o == c ? 0 : up_.port(c, o) / (count() - 1);
        return {of.led * up_.port(c, c) + of.owned * far, of.contributed * down_.port(c, c) + of.given * far};
    }

    /// Those that pass the busiest leader's NIC one way on their way up, and the other way as results.
    struct Segments {
        double contributed;  ///< to other leaders of its cluster
        double led;          ///< from all others of its cluster
        double given;        ///< to owners elsewhere
        double owned;        ///< from the leaders of all other clusters
    };
    Segments segments_at(int c, double share) const {
        const double own = std::ceil(segments_ * busiest_part(sizes_[at(c)], lanes_));
        const double owned = std::ceil(own * share);
        const double inside = sizes_[at(c)] == 1 ? 0 : segments_ - own;
        return {inside, static_cast<double>(sizes_[at(c)] - 1) * own, own - owned, owned * (count() - 1)};
    }

    double trip(int from, int to) const { return down_.gap(from, to) + down_.latency(from, to); }

    /// From anywhere to an owner in `c`, and from there to anywhere.
    double farness_of(int c) const {
        double there = 0;
        double back = 0;
        for (int o = 0; o < count(); ++o) {
            if (o == c) continue;
            there = std::max(there, trip(o, c));
            back = std::max(back, trip(c, o));
        }
        return there + back;
    }

    /// Every rank of the `owners` nearest clusters has one.
    std::vector<int> shares_of(int owners) const {
        std::vector<int> shares(sizes_.size(), 0);
        for (int i = 0; i < owners; ++i) shares[at(by_farness_[at(i)])] = sizes_[at(by_farness_[at(i)])];
        return shares;
    }

    PhaseTime time_of(const std::vector<int>& shares) const {
        const double all = std::accumulate(shares.begin(), shares.end(), 0);
        const double wait = latencies(shares) + beside(shares, all);
        PhaseTime time;
        time.first = wait + one_by_one(sizes_, up_, down_);
        const auto at_least = [&](double total, double busy, const Binding& binding) {
            if (total <= time.total) return;
            time.total = total;
            time.binding = binding;
            time.interval = busy / segments_;
        };
        for (int c = 0; c < count(); ++c) {
            const double share = shares[at(c)] / all;
            for (const NicWork& nic : {sending(c, share), getting(c, share)}) {
                const double rested = std::max(nic.time(wait) - down_.credit(c), wait);
                at_least(std::max(rested, nic.all() - down_.usual_credit(c)), nic.all(),
                         {Binding::Kind::port, c, c});
            }
            const double crossing = segments_ * (1 - share + share * (count() - 1)) *
                                    std::max(up_.uplink_out(c), down_.uplink_out(c));
            at_least(wait + crossing, crossing, {Binding::Kind::uplink, c, -1});
            for (int o = 0; o < count(); ++o) {
                if (o == c) continue;
                const double both = segments_ * (share + shares[at(o)] / all);
                const double of_trunk = both * down_.trunk(down_.group_of(c), down_.group_of(o));
                at_least(wait + of_trunk, of_trunk,
                         {Binding::Kind::trunk, down_.group_of(c), down_.group_of(o)});
                const double of_flow = both * busiest_part(std::lcm(sizes_[at(c)], sizes_[at(o)]), lanes_);
                const double busy = of_flow * down_.gap(c, o);
                at_least(wait + busy - down_.credit_of_flow(c, o) + down_.ramp(c, o, of_flow), busy,
                         {Binding::Kind::link, c, o});
            }
        }
        return time;
    }

    /// Of one segment: inside a cluster, to its owner, from there, inside a cluster.
    double latencies(const std::vector<int>& shares) const {
        double far = 0;
        double near_up = 0;
        double near_down = 0;
        for (int c = 0; c < count(); ++c) {
            if (shares[at(c)] > 0) far = std::max(far, farness_[at(c)]);
            if (sizes_[at(c)] == 1) continue;
            near_up = std::max(near_up, up_.at_best(c, c) + up_.latency(c, c));
            near_down = std::max(near_down, down_.at_best(c, c) + down_.latency(c, c));
        }
        return near_up + far + near_down;
    }

    /// The first segments of all lanes leave at once, and share the way to their owners: on average half of
    /// the others' bytes pass before one of them is complete.
    double beside(const std::vector<int>& shares, double all) const {
        double longest = 0;  // for each segment, of all lanes together
        for (int c = 0; c < count(); ++c) {
            const double share = shares[at(c)] / all;
            const double crossing = std::max(1 - share, share * (count() - 1));
            longest = std::max(longest, crossing * std::max(up_.uplink_out(c), down_.uplink_out(c)));
            for (int o = 0; o < count(); ++o) {
                if (o == c) continue;
                const double trunk = down_.trunk(down_.group_of(c), down_.group_of(o));
                longest = std::max(longest, shares[at(o)] / all * trunk);
            }
        }
        return (std::min<double>(lanes_, segments_) - 1) / 2 * longest;
    }

    int lanes_;
    double segments_;
    const std::vector<int>& sizes_;
    const SegmentTimes& up_;
    const SegmentTimes& down_;
    std::vector<double> farness_;
    std::vector<int> by_farness_;
};

/// How long the hosts of one cluster take that own as much each, in one lane. Every one sends (and gets) its
/// contributions to all others, and the results of its own to all others; with one segment each, results
/// begin when all contributions are there.
PhaseTime time_among_hosts(int hosts, double segments, const SegmentTimes& up, const SegmentTimes& down) {
    const double owned = std::ceil(segments / hosts);
    const double port = std::max(up.port(0, 0), down.port(0, 0));
    const NicWork nic{(segments - owned) * port, owned * (hosts - 1) * port};
    const double trips = 2 * down.latency(0, 0) + (hosts - 1) * up.combining(0);
    PhaseTime time;
    time.first = trips + 2 * down.gap(0, 0) + 2 * (hosts - 2) * port;
    const double last = nic.all() + (owned > 1 ? trips / 2 : trips);
    const double saved = std::min(down.credit(0), nic.all() - down.unsaved(0, nic.all()));
    time.total = std::max({last - saved, time.first, nic.all() - std::min(saved, down.usual_credit(0))});
    time.interval = nic.all() / segments;
    time.binding = {Binding::Kind::port, 0, 0};
    return time;
}

/// How long a reduction to one of the hosts of a cluster takes, in one lane, whose segments all other hosts
/// own in turn: each sends all of its contributions, and gets as many; the root's port gets the results while
/// later contributions go, those of the last turn after all of them.
PhaseTime time_to_root_among_hosts(int hosts, double segments, const SegmentTimes& up,
                                   const SegmentTimes& down) {
    const double owned = std::ceil(segments / (hosts - 1));
    const double port = std::max(up.port(0, 0), down.port(0, 0));
    const double turn = (hosts - 1) * port;
    const double trips = 2 * down.latency(0, 0) + (hosts - 1) * up.combining(0);
    PhaseTime time;
    time.first = trips + turn + down.gap(0, 0);
    const double busy = owned * turn;
    const double saved = std::min(down.credit(0), busy - down.unsaved(0, busy));
    time.total = std::max(trips + busy + turn - saved, time.first);
    time.interval = busy / segments;
    time.binding = {Binding::Kind::port, 0, 0};
    return time;
}

/// How long a reduction between `times.count()` hosts takes, each in a cluster of its own, whose segments all
/// but the root own: each sends what it does not own to owners, and what it owns to the root, and gets as
/// much.
PhaseTime time_to_root(int root, double segments, const SegmentTimes& times) {
    const int count = times.count();
    const double owned = std::ceil(segments / (count - 1));
    PhaseTime time;
    double busiest = 0;
    double latency = 0;
    for (int c = 0; c < count; ++c) {
        const double each = c == root ? segments / (count - 1) : owned;
        double in = 0;
        double out = 0;
        double there = 0;
        for (int o = 0; o < count; ++o) {
            if (o == c) continue;
            in += each * times.port(o, c);
            out += owned * times.port(c, o);
            const double flow = owned * times.gap(o, c) + times.ramp(o, c, owned);
            busiest = std::max(busiest, flow);
            there = std::max(there, times.gap(o, c) + times.latency(o, c));
        }
        const double uplink = segments * std::max(times.uplink_out(c), times.uplink_in(c));
        busiest = std::max({busiest, std::max(in, out) - times.credit(c), uplink});
        if (c != root) latency = std::max(latency, there + times.gap(c, root) + times.latency(c, root));
    }
    time.first = latency;
    time.total = latency + busiest;
    time.interval = busiest / segments;
    time.binding = {Binding::Kind::port, root, root};
    return time;
}

}  // namespace

std::unique_ptr<LeaderSteps> Rsag::leader_steps(LeaderPlace place, ReceiveSlots& slots,
                                                ScheduleBuilder& builder) const {
    const std::size_t groups = place.leaders.size();
    return std::make_unique<RsagSteps>(std::move(place), parameters().lanes, turns(shares_, groups), slots,
                                       builder);
}

std::size_t Rsag::turn(std::size_t groups) const {
    return turns(shares_, groups).size() * static_cast<std::size_t>(parameters().lanes);
}

std::string Rsag::details() const {
    return shares_.empty() ? std::string() : fmt::format(" shares {}", fmt::join(shares_, " "));
}

std::optional<Candidate> Rsag::price(Pricing& pricing) const {
    if (parameters().within != kFlatShape || parameters().native_within || pricing.machine().has_groups())
        return std::nullopt;
    if (row_of(pricing.request().collective).is_rooted) return price_to_root(pricing);
    if (pricing.clusters() == 1) return price_among_hosts(pricing);
    const SharedTime shared = Sharing(parameters().lanes, pricing.segments(segment_bytes()), pricing.sizes(),
                                      pricing.times(segment_bytes(), SegmentTimes::Direction::reduction),
                                      pricing.times(segment_bytes(), SegmentTimes::Direction::broadcast))
                                  .best();
    // A cluster sends the others' shares to their owners, and then the results of its own to all.
    const double all = std::accumulate(shared.shares.begin(), shared.shares.end(), 0);
    std::vector<ClusterBurst> bursts;
    for (int cluster = 0; cluster < pricing.clusters(); ++cluster) {
        const double share = shared.shares[at(cluster)] / all;
        bursts.push_back({cluster, std::max(1 - share, share * (pricing.clusters() - 1))});
    }
    // Each segment passes an uplink less than twice, in all.
    Candidate candidate = phase_candidate(pricing, std::make_shared<Rsag>(parameters(), shared.shares),
                                          parameters().within, shared.time, bursts, 1);
    add_time_on_hosts(pricing, segment_bytes(), candidate.time);
    candidate.seconds = candidate.time.last;
    return candidate;
}

/// On one cluster its hosts are the groups, and all own as much.
std::optional<Candidate> Rsag::price_among_hosts(Pricing& pricing) const {
    if (parameters().lanes > 1 || pricing.largest_cluster() == 1) return std::nullopt;
    const PhaseTime time =
        time_among_hosts(pricing.largest_cluster(), static_cast<double>(pricing.segments(segment_bytes())),
                         pricing.times(segment_bytes(), SegmentTimes::Direction::reduction),
                         pricing.times(segment_bytes(), SegmentTimes::Direction::broadcast));
    Candidate candidate = phase_candidate(pricing, std::make_shared<Rsag>(parameters(), std::vector<int>()),
                                          parameters().within, time, {}, 0);
    add_time_on_hosts(pricing, segment_bytes(), candidate.time);
    candidate.seconds = candidate.time.last;
    return candidate;
}

/// Between hosts that are each alone in a cluster, or the hosts of one; all but the root's own as much.
std::optional<Candidate> Rsag::price_to_root(Pricing& pricing) const {
    const Machine& machine = pricing.machine();
    const bool is_among_hosts = pricing.clusters() == 1;
    if (parameters().lanes > 1 || machine.host_count() < 3 ||
        (!is_among_hosts && pricing.largest_cluster() > 1))
        return std::nullopt;
    const auto segments = static_cast<double>(pricing.segments(segment_bytes()));
    const SegmentTimes& down = pricing.times(segment_bytes(), SegmentTimes::Direction::broadcast);
    const PhaseTime time = is_among_hosts
                               ? time_to_root_among_hosts(
                                     machine.host_count(), segments,
                                     pricing.times(segment_bytes(), SegmentTimes::Direction::reduction), down)
                               : time_to_root(pricing.root_cluster(), segments, down);
    std::vector<int> shares(at(machine.host_count()), 1);
    shares[at(is_among_hosts ? machine.host_of(tree_root(pricing.request())) : pricing.root_cluster())] = 0;
    Candidate candidate = phase_candidate(pricing, std::make_shared<Rsag>(parameters(), std::move(shares)),
                                          parameters().within, time, {}, is_among_hosts ? 0 : 1);
    add_time_on_hosts(pricing, segment_bytes(), candidate.time);
    candidate.seconds = candidate.time.last;
    return candidate;
}

bool is_for_rsag(Collective collective) {
    return row_of(collective).combines && is_one_message(collective);
}

AlgorithmPtr parse_rsag(const AlgorithmName& name, Collective) {
    const auto parameters = parse_phase(name, "rsag");
    return parameters ? std::make_shared<Rsag>(*parameters, std::vector<int>()) : nullptr;
}

/// Over 1 Gbit/s segments of 64 KiB took 9 % longer than those of 32: a host gets them from all others at
/// once.
constexpr Bytes kMostAmongHosts = 32 * 1024;

void propose_rsag(Pricing& pricing, std::vector<Candidate>& found) {
    const Bytes bytes = pricing.request().bytes();
    const bool is_among_hosts = pricing.clusters() == 1;
    const Bytes lanes = is_among_hosts ? 1 : fair_lanes(pricing.sizes());
    const int owners = is_among_hosts ? pricing.largest_cluster() : pricing.clusters();
    if (bytes < kLeastToCut || owners < 3) return;
    const bool is_rooted = row_of(pricing.request().collective).is_rooted;
    if (is_rooted && !is_among_hosts && pricing.largest_cluster() > 1) return;
    if (pricing.machine().has_groups()) return;
    for (const Bytes segment_bytes : pricing.segment_sizes()) {
        // Every lane, and every owner where there is one lane, has something to do.
        const Bytes least = std::max(lanes, is_among_hosts ? static_cast<Bytes>(owners) : 1);
        if (least * segment_bytes > bytes) continue;
        if (is_among_hosts ? segment_bytes > kMostAmongHosts : pricing.is_coarse(segment_bytes)) continue;
        const Rsag algorithm({{}, kFlatShape, false, segment_bytes, static_cast<int>(lanes)}, {});
        if (auto candidate = algorithm.price(pricing)) found.push_back(std::move(*candidate));
    }
}

}  // namespace laple
