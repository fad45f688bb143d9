// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/network_clock.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/index.hpp"

namespace laple {
namespace {

/// Each of `shares` shares a port with all that are not through yet. Replaces each by the time at which it
/// is.
void share_port(std::vector<double>& shares) {
    std::vector<std::size_t> order(shares.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return shares[a] < shares[b]; });
    double passed = 0;  // of each
    double now = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        double& share = shares[order[i]];
        now += (share - passed) * static_cast<double>(order.size() - i);
        passed = share;
        share = now;
    }
}

}  // namespace

double MessageTimes::interval() const {
    return std::max({port_out, flow, uplink_out, trunk, uplink_in, port_in});
}

double MessageTimes::alone() const {
    return interval() + latency;
}

NetworkClock::NetworkClock(std::vector<int> cluster_of, std::size_t clusters, std::size_t groups,
                           bool shares_ports)
    : cluster_of_(std::move(cluster_of)),
      shares_ports_(shares_ports),
      group_of_(clusters, 0),
      groups_(groups),
      out_free_(cluster_of_.size(), 0),
      in_free_(cluster_of_.size(), 0),
      credit_(cluster_of_.size(), 0),
      in_credit_(cluster_of_.size(), 0),
      usual_credit_(cluster_of_.size(), 0),
      busy_(cluster_of_.size(), 0),
      in_busy_(cluster_of_.size(), 0),
      uplink_out_free_(clusters, 0),
      uplink_in_free_(clusters, 0),
      trunk_free_(groups * groups, 0) {}

NetworkClock::NetworkClock(std::vector<int> cluster_of, const Machine& machine, const MachineCosts& costs)
    : NetworkClock(std::move(cluster_of), at(costs.count()), machine.groups().size(), costs.shares_ports) {
    costs_ = &costs;
    for (int c = 0; c < costs.count(); ++c) group_of_[at(c)] = machine.group_of(c);
    for (const auto& from : machine.groups()) {
        for (const auto& to : machine.groups())
            trunks_.push_back(&from == &to ? 0 : costs.rate_between(from, to));
    }
    for (std::size_t host = 0; shares_ports_ && host < hosts(); ++host) {
        credit_[host] = costs.cluster(cluster(host)).credit();
        usual_credit_[host] = costs.cluster(cluster(host)).usual_credit();
    }
    in_credit_ = credit_;
}

NetworkClock::NetworkClock(std::vector<int> cluster_of, const SegmentTimes& times)
    : NetworkClock(std::move(cluster_of), at(times.count()), at(times.groups()), times.shares_ports()) {
    for (int c = 0; c < times.count(); ++c) group_of_[at(c)] = times.group_of(c);
    for (std::size_t host = 0; host < hosts(); ++host) {
        credit_[host] = times.credit(cluster(host));
        usual_credit_[host] = times.usual_credit(cluster(host));
    }
    in_credit_ = credit_;
}

const MessageTimes& NetworkClock::times(std::size_t from, std::size_t to, Bytes bytes, bool is_stream) {
    const std::size_t clusters = group_of_.size();
    if (known_.empty()) known_.resize(clusters * clusters);
    Known& known = known_[at(cluster(from)) * clusters + at(cluster(to))];
    if (!known.is_set || known.bytes != bytes || known.is_stream != is_stream)
        known = {bytes, is_stream, true, times_between(cluster(from), cluster(to), bytes, is_stream)};
    return known.times;
}

MessageTimes NetworkClock::times_between(int a, int b, Bytes bytes, bool is_stream) const {
    const MachineCosts::Link& link = costs_->link(a, b);
    const auto size = static_cast<double>(bytes);
    const auto passing = [&](double rate) { return rate > 0 ? size / rate : 0; };
    const double alone = link.gap.at(bytes).count();
    const double in_a_row = std::min(link.stream.at(bytes).count(), alone);
    const auto port = [&](double nic) {
        return nic > 0 ? MachineCosts::port_time(in_a_row, link.gap.at(0).count() + passing(nic), a == b)
                       : in_a_row;
    };
    MessageTimes times;
    times.port_out = port(costs_->cluster(a).nic_out);
    times.start = shares_ports_ ? std::min(times.port_out, link.stream.at(0).count()) : times.port_out;
    // What a message alone waits for and a stream hides, handshakes, each still waits for on its way.
    times.flow = is_stream ? in_a_row : alone;
    times.handshake = is_stream || a == b ? 0 : costs_->handshake(a, b, bytes);
    times.latency = link.latency + alone - times.flow;
    times.port_in = port(costs_->cluster(b).nic_in);
    if (a == b) {
        const double at_work = costs_->handshake_at_work(a, bytes);
        if (!is_stream) {
            times.latency += at_work;
            return times;
        }
        for (double* each : {&times.port_out, &times.flow, &times.port_in})
            *each = std::max(*each + at_work, costs_->time_at_work(a));
        times.start = std::min(times.start + at_work, times.port_out);
        return times;
    }
    times.uplink_out = passing(costs_->cluster(a).uplink_out);
    times.trunk = passing(trunks_[at(group_of_[at(a)]) * groups_ + at(group_of_[at(b)])]);
    times.uplink_in = passing(costs_->cluster(b).uplink_in);
    return times;
}

void NetworkClock::send(std::size_t from, double ready, std::span<const Sending> messages,
                        std::vector<Message>& sent) {
    timed_.clear();
    for (const Sending& message : messages) timed_.push_back(timed(from, message));
    send(from, ready, timed_, sent);
}

void NetworkClock::send(std::size_t from, double ready, std::span<const Timed> messages,
                        std::vector<Message>& sent) {
    const std::size_t before = sent.size();
    shares_.clear();
    double all = 0;
    double started = std::max(ready, out_free_[from]);
    for (const Timed& message : messages) {
        const MessageTimes& times = message.times;
        const double saved = std::min(credit_[from], times.port_out - times.start);
        credit_[from] -= saved;
        busy_[from] += times.port_out;
        shares_.push_back(times.port_out - times.start - saved);
        all += shares_.back();
        const double of_flow = MachineCosts::is_held_up_by_port(times.flow, times.port_out) ? saved : 0;
        const double first = started + times.handshake;
        sent.push_back({from, message.to, times, first, started + times.flow - of_flow + message.ramp});
        started += times.start;
    }
    out_free_[from] = started + all;
    if (shares_ports_) share_port(shares_);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        Message& message = sent[before + i];
        const double left = shares_[i] > 0 ? started + message.times.handshake + shares_[i]
                                           : message.first + message.times.start;
        message.last = std::max(message.last, left);
    }
}

void NetworkClock::deliver(std::span<Message> messages) {
    const auto in_order = [&](auto use) {
        if (messages.size() > 1) {
            order_.resize(messages.size());
            std::iota(order_.begin(), order_.end(), std::size_t{0});
            std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
                return messages[a].first < messages[b].first;
            });
            for (const std::size_t i : order_) use(messages[i]);
        } else {
            for (Message& message : messages) use(message);
        }
    };
    const auto pass_links = [&](double MessageTimes::*each, auto free_of) {
        const auto is_limited = [&](const Message& message) { return message.times.*each > 0; };
        if (std::none_of(messages.begin(), messages.end(), is_limited)) return;
        in_order([&](Message& message) {
            if (!is_limited(message)) return;
            double& free = free_of(message);
            message.first = std::max(free, message.first);
            free = message.first + message.times.*each;
            message.last = std::max(message.last, free);
        });
    };
    pass_links(&MessageTimes::uplink_out, [&](const Message& message) -> double& {
        return uplink_out_free_[at(cluster(message.from))];
    });
    pass_links(&MessageTimes::trunk, [&](const Message& message) -> double& {
        return trunk_free_[at(group_of_[at(cluster(message.from))]) * groups_ +
                           at(group_of_[at(cluster(message.to))])];
    });
    pass_links(&MessageTimes::uplink_in,
               [&](const Message& message) -> double& { return uplink_in_free_[at(cluster(message.to))]; });
    for (Message& message : messages) {
        message.first += message.times.latency;
        message.last += message.times.latency;
    }
    in_order([&](Message& message) {
        double& free = in_free_[message.to];
        double& credit = in_credit_[message.to];
        const double saved = std::min(credit, std::max(message.times.port_in - message.times.start, 0.0));
        credit -= saved;
        in_busy_[message.to] += message.times.port_in;
        free = std::max(free, message.first) + message.times.port_in - saved;
        message.last = std::max(message.last, free);
    });
}

NetworkClock::Timed NetworkClock::timed(std::size_t from, const Sending& message) {
    MessageTimes times = this->times(from, message.to, message.bytes, message.count > 1);
    if (message.count > 1)
        for (double* each : {&times.port_out, &times.flow, &times.uplink_out, &times.trunk, &times.uplink_in,
                             &times.port_in})
            *each *= message.count;
    if (!shares_ports_) times.start = times.port_out;
    const double size = static_cast<double>(message.bytes) * message.count;
    const bool may_ramp = cluster(from) != cluster(message.to) && size > 0;
    return {message.to, times, may_ramp ? costs_->ramp(times.latency, size, times.flow / size) : 0};
}

double NetworkClock::sustained() const {
    double most = 0;
    for (std::size_t host = 0; host < hosts(); ++host)
        most = std::max(most, std::max(busy_[host], in_busy_[host]) - usual_credit_[host]);
    return most;
}

}  // namespace laple
