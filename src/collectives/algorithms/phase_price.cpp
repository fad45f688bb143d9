// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/phase_price.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "base/index.hpp"
#include "collectives/algorithms/group_price.hpp"
#include "collectives/cost/network_clock.hpp"

namespace laple {
namespace {

class PhasePrice {
  public:
    PhasePrice(const PhaseParameters& parameters, std::uint64_t segments, const PhaseNetwork& network,
               TreePricer& pricer)
        : segments_(segments),
          lanes_(static_cast<int>(
              std::min<std::uint64_t>(static_cast<std::uint64_t>(parameters.lanes), segments))),
          rounds_(static_cast<double>((segments + at(lanes_) - 1) / at(lanes_))),
          of_all_lanes_(static_cast<double>(segments) / lanes_),
          groups_(network.groups),
          up_(network.up),
          down_(network.down),
          pricer_(parameters, lanes_, network.up, network.down, pricer) {
        state_.reserve(groups_.size());
        for (const auto& group : groups_) {
            const GroupTime own = pricer_.time(group);
            state_.push_back({pricer_.hosts_in(group), own, own.up});
            at_least(own.interval, own.credit, own.binding, rounds_of(group));
            for (const int cluster : group)
                at_least(down_.on_host(cluster).interval, 0, {}, static_cast<double>(segments_));
        }
    }

    PhaseTime time(LeadersTalk talk) {
        if (talk == LeadersTalk::all_at_once) {
            all_at_once();
        } else {
            in_rounds();
        }
        time_.total = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            load(g);
            time_.first = std::max(time_.first, state_[g].ready + state_[g].own.down);
            time_.total = std::max(time_.total, state_[g].alone + state_[g].own.down);
        }
        time_.total = std::max({time_.first + others_, time_.total, sustained_});
        return time_;
    }

  private:
    /// Segments of the lanes of one host of a group, in each of these lanes.
    double rounds_of(const std::vector<int>& group) const {
        const std::uint64_t surplus = segments_ % at(lanes_);
        const double own = pricer_.lanes_per_host(group);
        const auto hosts = static_cast<std::uint64_t>(pricer_.hosts_in(group));
        const auto more = static_cast<double>((surplus + hosts - 1) / hosts);
        return static_cast<double>(segments_ / at(lanes_)) + std::min(more, own) / own;
    }

    /// Something takes so long for each of so many segments, of which the first one has had its part of the
    /// credit.
    void at_least(double interval, double credit, const Binding& binding, double rounds) {
        if (binding.kind == Binding::Kind::port)
            sustained_ = std::max(sustained_, rounds * interval - down_.usual_credit(binding.a));
        const double others = std::max((rounds - 1) * interval - std::max(credit - interval, 0.0), 0.0);
        if (others < others_ || (others == others_ && interval <= time_.interval)) return;
        time_.interval = interval;
        others_ = others;
        time_.binding = binding;
    }

    int leader(std::size_t group) const { return groups_[group].front(); }

    /// A leader sends every segment of its lane to another one, which combines it: counts what that takes.
    /// Returns when it has it, if it is sent then.
    double send(std::size_t from_group, std::size_t to_group, double then) {
        const int from = leader(from_group);
        const int to = leader(to_group);
        state_[from_group].sends += down_.port(from, to);
        state_[to_group].gets += up_.port(to, from);
        state_[from_group].copies += 1;
        const double alone = flow_alone(from_group, to_group);
        if (rounds_ > 1) state_[to_group].alone = std::max(state_[to_group].alone, then + alone);
        at_least(down_.gap(from, to), down_.credit_of_flow(from, to), {Binding::Kind::link, from, to},
                 rounds_);
        // All lanes of two groups share what is between them.
        const double trunk = lanes_ * down_.trunk(down_.group_of(from), down_.group_of(to));
        if (trunk > 0)
            at_least(trunk, 0, {Binding::Kind::trunk, down_.group_of(from), down_.group_of(to)},
                     of_all_lanes_);
        const double passing = std::max(down_.at_best(from, to), trunk);
        return std::max(then + passing + up_.latency(to, from), rounds_ <= 1 ? then + alone : 0);
    }

    /// How long a flow between leaders of two groups takes for all segments of the lanes that share it.
    double flow_alone(std::size_t from_group, std::size_t to_group) const {
        const int from = leader(from_group);
        const int to = leader(to_group);
        const int flows =
            lanes_ == 1 ? 1 : std::min(lanes_, std::lcm(state_[from_group].hosts, state_[to_group].hosts));
        const double segments = rounds_ * ((lanes_ + flows - 1) / flows);
        const double gaps = segments * down_.gap(from, to) - down_.credit_of_flow(from, to);
        return down_.latency(from, to) + std::max(gaps, 0.0) + down_.ramp(from, to, segments);
    }

    /// Each leader sends to all others, beginning with its right neighbour, and gets from all of them. A host
    /// that leads several lanes does so for each of them; all lanes of a group share its uplink.
    void all_at_once() {
        const std::size_t count = groups_.size();
        std::vector<double> start;
        for (const GroupState& group : state_) start.push_back(group.ready);
        std::vector<double> nearest(count, std::numeric_limits<double>::infinity());
        for (std::size_t g = 0; g < count; ++g) {
            const int from = leader(g);
            double port = 0;
            double started = 0;
            for (std::size_t i = 1; i < count; ++i) {
                const int to = leader((g + i) % count);
                port += down_.port(from, to);
                started += down_.start(from, to);
            }
            const double of_lanes = pricer_.lanes_per_host(groups_[g]);
            const double all = of_lanes * port - started;
            const double of_uplink = static_cast<double>(lanes_) * static_cast<double>(count - 1) *
                                     std::max(down_.uplink_out(from), up_.uplink_out(from));
            double then = start[g];
            double shared = 0;
            for (std::size_t i = 1; i < count; ++i) {
                const std::size_t other = (g + i) % count;
                const int to = leader(other);
                const double alone = send(g, other, then);
                then += down_.start(from, to);
                shared += of_lanes * down_.port(from, to) - down_.start(from, to);
                const double left = then + down_.after_credit(from, down_.shares_ports() ? all : shared);
                state_[other].ready = std::max({state_[other].ready, alone, left + up_.latency(to, from),
                                                start[g] + of_uplink + up_.latency(to, from)});
                nearest[other] = std::min(nearest[other], start[g] + up_.latency(to, from));
            }
        }
        for (std::size_t g = 0; g < count && count > 1; ++g) {
            const double gets = pricer_.lanes_per_host(groups_[g]) * state_[g].gets;
            state_[g].ready = std::max(state_[g].ready, nearest[g] + up_.after_credit(leader(g), gets));
        }
    }

    /// As DoublingSteps (recursive_doubling.cpp): surplus leaders fold in first, and get the result last.
    void in_rounds() {
        const std::size_t count = groups_.size();
        std::size_t power = 1;
        while (power * 2 <= count) power *= 2;
        const std::size_t surplus = count - power;
        const auto place = [&](std::size_t index) {
            return index < surplus ? 2 * index + 1 : index + surplus;
        };
        std::vector<int> clusters;
        for (std::size_t g = 0; g < count; ++g) clusters.push_back(leader(g));
        NetworkClock clock(std::move(clusters), down_);
        std::vector<NetworkClock::Message> sent;
        const auto swap = [&](auto for_each_pair) {
            sent.clear();
            for_each_pair([&](std::size_t from, std::size_t to) {
                send(from, to, state_[from].ready);
                const NetworkClock::Timed message{to, times(from, to), rounds_ <= 1 ? ramp(from, to) : 0};
                clock.send(from, state_[from].ready, {&message, 1}, sent);
            });
            clock.deliver(sent);
            for (const auto& message : sent)
                state_[message.to].ready =
                    std::max(state_[message.to].ready, message.last + combining(message.to));
        };
        // Leaders into which no other one folds need not wait for the first round.
        const auto in_round = [&](std::size_t bit, std::size_t first, std::size_t end, auto pair) {
            for (std::size_t index = first; index < end && bit < power; ++index)
                pair(place(index), place(index ^ bit));
        };
        swap([&](auto pair) {
            for (std::size_t i = 0; i < surplus; ++i) pair(2 * i, 2 * i + 1);
            if (surplus > 0) in_round(1, surplus, power, pair);
        });
        for (std::size_t bit = 1; bit < power; bit *= 2)
            swap([&](auto pair) { in_round(bit, 0, bit == 1 && surplus > 0 ? surplus : power, pair); });
        for (std::size_t i = 0; i < surplus; ++i) return_result(2 * i + 1, 2 * i, clock);
    }

    /// The result goes back to a leader that was folded in, beside those to the sender's own cluster.
    void return_result(std::size_t from, std::size_t to, NetworkClock& clock) {
        send(from, to, state_[from].ready);
        const MessageTimes there = times(from, to);
        const int cluster = leader(from);
        MessageTimes inside;
        inside.start = down_.start(cluster, cluster);
        inside.port_out = down_.port(cluster, cluster);
        std::vector<NetworkClock::Timed> messages(1 + pricer_.children_of_leader(groups_[from]),
                                                  {from, inside, 0});
        messages.front() = {to, there, rounds_ <= 1 ? ramp(from, to) : 0};
        std::vector<NetworkClock::Message> sent;
        clock.send(from, state_[from].ready, messages, sent);
        sent.resize(1);
        clock.deliver(sent);
        state_[to].ready = std::max(state_[to].ready, sent.front().last);
        if (messages.size() > 1) state_[from].ready += there.port_out;
    }

    MessageTimes times(std::size_t from_group, std::size_t to_group) const {
        const int from = leader(from_group);
        const int to = leader(to_group);
        return {down_.start(from, to),
                down_.port(from, to),
                down_.gap(from, to),
                down_.uplink_out(from),
                down_.trunk(down_.group_of(from), down_.group_of(to)),
                down_.uplink_in(to),
                down_.latency(from, to),
                up_.port(to, from)};
    }
    double combining(std::size_t group) const { return up_.combining(leader(group)); }
    double ramp(std::size_t from_group, std::size_t to_group) const {
        return down_.ramp(leader(from_group), leader(to_group), 1);
    }

    /// What a group's leaders do between two segments of a lane, inside the group and with others.
    void load(std::size_t group) {
        const int cluster = leader(group);
        const double of_lanes = pricer_.lanes_per_host(groups_[group]);
        const double busy = std::max(of_lanes * state_[group].sends + state_[group].own.sends,
                                     of_lanes * state_[group].gets + state_[group].own.gets);
        at_least(busy, down_.credit(cluster), {Binding::Kind::port, cluster, cluster},
                 rounds_of(groups_[group]));
        at_least(static_cast<double>(lanes_) * state_[group].copies *
                     std::max(down_.uplink_out(cluster), up_.uplink_out(cluster)),
                 0, {Binding::Kind::uplink, cluster, -1}, of_all_lanes_);
    }

    std::uint64_t segments_;
    int lanes_;
    double rounds_;        // segments of the lane that has most
    double of_all_lanes_;  // of a lane on average
    const std::vector<std::vector<int>>& groups_;
    const SegmentTimes& up_;
    const SegmentTimes& down_;
    GroupPricer pricer_;
    struct GroupState {
        int hosts;
        GroupTime own;
        double ready;      // its leaders have the first segment, combined so far
        double sends = 0;  // a leader's port, for a segment
        double gets = 0;
        double copies = 0;  // that leave the group
        double alone = 0;   // flow_alone() of the slowest that comes to it
    };
    std::vector<GroupState> state_;  // by group
    PhaseTime time_;
    double others_ = 0;     // all segments but the first, at what is busiest
    double sustained_ = 0;  // what the busiest NIC takes for all segments, call after call
};

}  // namespace

PhaseTime phase_time(const PhaseParameters& parameters, LeadersTalk talk, std::uint64_t segments,
                     const PhaseNetwork& network, TreePricer& pricer) {
    return PhasePrice(parameters, segments, network, pricer).time(talk);
}

std::optional<Candidate> phase_price(Pricing& pricing, AlgorithmPtr algorithm,
                                     const PhaseParameters& parameters, LeadersTalk talk, double at_once) {
    if (parameters.native_within || pricing.clusters() == 1) return std::nullopt;
    const auto& groups = pricing.machine().groups();
    const PhaseTime time =
        phase_time(parameters, talk, pricing.segments(parameters.segment_bytes),
                   {groups, pricing.times(parameters.segment_bytes, SegmentTimes::Direction::reduction),
                    pricing.times(parameters.segment_bytes, SegmentTimes::Direction::broadcast)},
                   pricing.pricer());
    std::vector<ClusterBurst> bursts;
    for (const auto& group : groups) bursts.push_back({group.front(), at_once});
    return phase_candidate(pricing, std::move(algorithm), parameters.within, time, bursts,
                           static_cast<int>(groups.size()) - 1);
}

Candidate phase_candidate(Pricing& pricing, AlgorithmPtr algorithm, Shape within, PhaseTime time,
                          const std::vector<ClusterBurst>& bursts, int crossings) {
    time.total +=
        stall_of(bursts, pricing.request().bytes(), algorithm->lanes(), pricing.sizes(), pricing.costs());
    Candidate candidate;
    candidate.hops = pricing.hops_in(within);
    candidate.crossings = crossings;
    candidate.time.first = time.first;
    candidate.time.last = time.total;
    candidate.time.interval = time.interval;
    candidate.time.binding = time.binding;
    candidate.seconds = candidate.time.last;
    candidate.algorithm = std::move(algorithm);
    return candidate;
}

}  // namespace laple
