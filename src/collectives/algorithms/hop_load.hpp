// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/cost/network_clock.hpp"

namespace laple {

/// What ports and links have to serve in one hop of many messages, cluster by cluster: hosts of a cluster are
/// alike, and as busy as the one that has most to do. A sum of loads: in which order a port serves messages
/// does not count.
class HopLoad {
  public:
    /// Whether ports have rested before: then they let some bytes pass at once (Cluster::usual_credit()).
    enum class Ports { busy, rested };

    /// `segment_bytes`: of messages that are cut; 0: they are not. `costs` must outlive this.
    HopLoad(const Machine& machine, const MachineCosts& costs, Bytes segment_bytes = 0,
            Ports ports = Ports::busy);

    /// Messages of `bytes` each from hosts of one cluster to other hosts, there or elsewhere: how many the
    /// busiest host sends, how many the busiest one gets, and how many there are.
    void add(int from, int to, double bytes, double sent, double got, double all);

    /// In seconds: what the busiest port takes, or the busiest of all ports and links.
    double busiest_port() const;
    double busiest() const;
    /// Of uplinks, links and ports that get, whose queues lose what comes too fast. A port that sends holds
    /// up its own host, which loses nothing.
    double busiest_queue() const;
    /// The same of what cluster `c` gets alone: its uplink, and its busiest port.
    double queue_of(int c) const {
        return std::max(in_[static_cast<std::size_t>(c)], uplink_in_[static_cast<std::size_t>(c)]);
    }
    double latency() const { return latency_; }
    /// The longest of its messages by itself.
    double alone() const { return alone_; }
    /// Until all are there.
    double seconds() const { return std::max(busiest() + latency_, alone_); }

  private:
    const MachineCosts& costs_;
    Bytes segment_bytes_;
    NetworkClock clock_;
    std::size_t groups_;
    std::vector<std::size_t> group_of_;  // by cluster
    std::vector<double> rate_out_;       // of uplinks; 0: no limit
    std::vector<double> rate_in_;
    std::vector<double> trunk_;     // from group to group
    std::vector<double> credit_;    // by cluster, as all of these
    std::vector<double> out_;       // of the busiest port
    std::vector<double> may_save_;  // of that
    std::vector<double> in_;
    std::vector<double> uplink_out_;
    std::vector<double> uplink_in_;
    double alone_ = 0;
    double latency_ = 0;
};

/// How long a message of `bytes` takes around the hosts of a cluster, each of whom passes it on: of the
/// cluster where it takes longest.
double time_around(const Machine& machine, const MachineCosts& costs, double bytes);

}  // namespace laple
