// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/hop_load.hpp"

#include "base/index.hpp"

namespace laple {

HopLoad::HopLoad(const Machine& machine, const MachineCosts& costs, Bytes segment_bytes)
    : costs_(costs),
      segment_bytes_(segment_bytes),
      clock_(all_below(at(costs.count())), machine, costs),
      groups_(machine.groups().size()),
      trunk_(groups_ * groups_, 0),
      out_(at(costs.count()), 0),
      in_(out_),
      uplink_out_(out_),
      uplink_in_(out_) {
    for (int c = 0; c < costs.count(); ++c) {
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
    in_[at(to)] += got * segments * times.port_in;
    if (from != to && rate_out_[at(from)] > 0) uplink_out_[at(from)] += all * bytes / rate_out_[at(from)];
    if (from != to && rate_in_[at(to)] > 0) uplink_in_[at(to)] += all * bytes / rate_in_[at(to)];
    trunk_[group_of_[at(from)] * groups_ + group_of_[at(to)]] += all * segments * times.trunk;
    // Segments to others come between those of one block: its flow has time to begin.
    const double ramp =
        from == to || bytes <= 0 || is_cut ? 0 : costs_.ramp(times.latency, bytes, times.flow / bytes);
    alone_ = std::max(alone_, times.alone() + (segments - 1) * times.flow + ramp);
    latency_ = std::max(latency_, times.latency);
}

double HopLoad::busiest_port() const {
    return std::max(*std::max_element(out_.begin(), out_.end()), *std::max_element(in_.begin(), in_.end()));
}

double HopLoad::busiest() const {
    double most = busiest_port();
    for (const auto* loads : {&uplink_out_, &uplink_in_, &trunk_})
        most = std::max(most, *std::max_element(loads->begin(), loads->end()));
    return most;
}

}  // namespace laple
