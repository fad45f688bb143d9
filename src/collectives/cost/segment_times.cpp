// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/cost/segment_times.hpp"

#include <algorithm>

namespace laple {

SegmentTimes::SegmentTimes(const MachineCosts& costs, const std::vector<std::vector<int>>& groups,
                           Bytes bytes, Use use, Direction direction)
    : count_(static_cast<std::size_t>(costs.count())),
      shares_ports_(costs.shares_ports && direction == Direction::broadcast),
      costs_(costs),
      bytes_(static_cast<double>(bytes)),
      gap_(count_ * count_),
      port_(count_ * count_),
      start_(count_ * count_),
      latency_(count_ * count_),
      uplink_out_(count_),
      uplink_in_(count_),
      credit_(count_),
      unsaved_(count_),
      combining_(count_),
      on_host_(count_),
      direction_(direction) {
    const bool is_backwards = direction == Direction::reduction;
    const auto size = static_cast<double>(bytes);
    const auto passing = [&](double rate) { return rate > 0 ? size / rate : 0; };
    for (int from = 0; from < count(); ++from) {
        const MachineCosts::Cluster& cluster = costs.cluster(from);
        const double combining = is_backwards ? cluster.reduction * size : 0;
        const double nic = is_backwards ? cluster.nic_in : cluster.nic_out;
        uplink_out_[static_cast<std::size_t>(from)] =
            passing(is_backwards ? cluster.uplink_in : cluster.uplink_out);
        uplink_in_[static_cast<std::size_t>(from)] =
            passing(is_backwards ? cluster.uplink_out : cluster.uplink_in);
        credit_[static_cast<std::size_t>(from)] = costs.shares_ports ? cluster.credit() : 0;
        combining_[static_cast<std::size_t>(from)] =
            std::min(costs.link(from, from).stream.at(bytes).count(), combining);
        for (int to = 0; to < count(); ++to) {
            const MachineCosts::Link& link = is_backwards ? costs.link(to, from) : costs.link(from, to);
            const double alone = link.gap.at(bytes).count();
            const double in_a_row = std::min(link.stream.at(bytes).count(), alone);
            const double gap = use == Use::stream ? in_a_row : alone;
            const double port =
                nic > 0 ? MachineCosts::port_time(in_a_row, link.gap.at(0).count() + passing(nic), from == to)
                        : in_a_row;
            const double least = use == Use::stream && from == to ? costs.time_at_work(from) : 0;
            const double handshake = from == to ? costs.handshake_at_work(from, bytes) : 0;
            gap_[at(from, to)] = std::max({gap + handshake, combining, least});
            port_[at(from, to)] = std::max({port + handshake, combining, least});
            if (from == to && port_[at(from, to)] > 0)
                unsaved_[static_cast<std::size_t>(from)] =
                    std::min((least + handshake) / port_[at(from, to)], 1.0);
            start_[at(from, to)] = costs.shares_ports
                                       ? std::min(port_[at(from, to)], link.stream.at(0).count() + handshake)
                                       : port_[at(from, to)];
            // What a message alone waits for and a stream hides, handshakes, each still waits for on its way.
            // Combining is done after a message has come, while the next one comes in.
            latency_[at(from, to)] =
                link.latency + std::max(alone - gap, 0.0) + std::min(in_a_row, combining);
        }
    }
    find_trunks(costs, groups, size, is_backwards);
}

void SegmentTimes::find_trunks(const MachineCosts& costs, const std::vector<std::vector<int>>& groups,
                               double bytes, bool is_backwards) {
    groups_ = static_cast<int>(groups.size());
    group_of_.resize(count_);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        for (const int cluster : groups[g])
            group_of_[static_cast<std::size_t>(cluster)] = static_cast<int>(g);
    }
    for (const auto& from : groups) {
        for (const auto& to : groups) {
            const double rate = is_backwards ? costs.rate_between(to, from) : costs.rate_between(from, to);
            trunk_.push_back(&from != &to && rate > 0 ? bytes / rate : 0);
        }
    }
}

}  // namespace laple
