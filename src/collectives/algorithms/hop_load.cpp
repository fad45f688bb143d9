// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/hop_load.hpp"

#include "base/index.hpp"

namespace laple {

HopLoad::HopLoad(const Machine& machine, const MachineCosts& costs, Bytes segment_bytes, Ports ports)
    : costs_(costs),
      segment_bytes_(segment_bytes),
      clock_(all_below(at(costs.count())), machine, costs),
      groups_(machine.groups().size()),
      trunk_(groups_ * groups_, 0),
      credit_(at(costs.count()), 0),
      out_(credit_),
      may_save_(out_),
      in_(out_),
      uplink_out_(out_),
      uplink_in_(out_) {
    for (int c = 0; c < costs.count(); ++c) {
        if (ports == Ports::rested && costs.shares_ports) credit_[at(c)] = costs.cluster(c).usual_credit();
        group_of_.push_back(at(machine.group_of(c)));
        const auto hosts = static_cast<int>(machine.hosts_in(c).size());
        rate_out_.push_back(costs.likely_uplink_out(c, hosts));
        rate_in_.push_back(costs.likely_uplink_in(c, hosts));
    }
}

void HopLoad::add(int from, int to, double bytes, double sent, double got, double all) {
    if (all <= 0) return;
    const bool is_cut = segment_bytes_ > 0 && bytes > static_cast<double>(segment_bytes_);
    const auto size = is_cut ? segment_bytes_ : static_cast<Bytes>(bytes);
    const double segments = is_cut ? bytes / static_cast<double>(segment_bytes_) : 1;
    const MessageTimes& times = clock_.times(at(from), at(to), size, is_cut || std::max(sent, got) > 1);
    out_[at(from)] += sent * segments * times.port_out;
    may_save_[at(from)] += sent * segments * (times.port_out - times.start);
    in_[at(to)] += got * segments * times.port_in;
    if (from != to && rate_out_[at(from)] > 0) uplink_out_[at(from)] += all * bytes / rate_out_[at(from)];
    if (from != to && rate_in_[at(to)] > 0) uplink_in_[at(to)] += all * bytes / rate_in_[at(to)];
    trunk_[group_of_[at(from)] * groups_ + group_of_[at(to)]] += all * segments * times.trunk;
    // Segments to others come between those of one block: its flow has time to begin.
    const double ramp =
        from == to || bytes <= 0 || is_cut ? 0 : costs_.ramp(times.latency, bytes, times.flow / bytes);
    const double saved = std::min(credit_[at(from)], segments * (times.port_out - times.start));
    alone_ = std::max(alone_, times.alone() + (segments - 1) * times.flow + ramp - saved);
    latency_ = std::max(latency_, times.latency);
}

double HopLoad::busiest_port() const {
    double most = 0;
    for (std::size_t c = 0; c < out_.size(); ++c) {
        most = std::max(most, out_[c] - std::min(credit_[c], may_save_[c]));
        most = std::max(most, in_[c] - std::min(credit_[c], in_[c]));
    }
    return most;
}

double HopLoad::busiest_queue() const {
    double most = 0;
    for (const auto* loads : {&in_, &uplink_out_, &uplink_in_, &trunk_})
        most = std::max(most, *std::max_element(loads->begin(), loads->end()));
    return most;
}

double HopLoad::busiest() const {
    double most = busiest_port();
    for (const auto* loads : {&uplink_out_, &uplink_in_, &trunk_})
        most = std::max(most, *std::max_element(loads->begin(), loads->end()));
    return most;
}

double time_around(const Machine& machine, const MachineCosts& costs, double bytes) {
    double longest = 0;
    NetworkClock clock(all_below(at(costs.count())), machine, costs);
    for (int c = 0; c < costs.count(); ++c) {
        const MessageTimes& times = clock.times(at(c), at(c), static_cast<Bytes>(bytes));
        const double one = std::max(std::max(times.port_out, times.port_in) + times.latency, times.alone());
        longest = std::max(longest, (static_cast<double>(machine.hosts_in(c).size()) - 1) * one);
    }
    return longest;
}

}  // namespace laple
