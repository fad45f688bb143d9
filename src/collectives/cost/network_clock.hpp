// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/cost/machine_costs.hpp"
#include "collectives/cost/segment_times.hpp"
#include "topology/machine.hpp"

namespace laple {

/// How long each port and link serves one message between two hosts, in seconds; 0: it is no limit.
struct MessageTimes {
    double start = 0;       ///< the part of `port_out` in which it has the port to itself
    double port_out = 0;    ///< the sender's port
    double flow = 0;        ///< the connection, which may be slower than the port
    double uplink_out = 0;  ///< of the sender's cluster
    double trunk = 0;       ///< between their groups
    double uplink_in = 0;
    double latency = 0;
    double port_in = 0;
    double handshake = 0;  ///< the part of `flow` before its first byte, in which others may pass

    /// The time between two messages of a connection: the longest of these, without the latency.
    double interval() const;
    /// End to end, of a message that nothing else holds up.
    double alone() const;
};

/// When the ports of some hosts, and the links between their clusters, are free again, as one message after
/// the other passes them. Messages of one send() share the sender's port where ports are shared
/// (simulator.hpp); one send() queues behind the other. In one deliver(), links and receiving ports serve
/// messages in the order in which their first bytes come; one deliver() queues behind the other.
///
///     port out   ├start┤─ share ──┤                    the next message starts, or shares the port
///     links       ├── uplinks, trunk ──┤               first in, first out
///     flow        ├─────── flow ──────────┤            other messages do not wait for it
///     port in               ┊ latency ├─── in ───┤     it is there
class NetworkClock {
  public:
    /// `cluster_of`: of each host that takes part, by its number here. `costs` must outlive this.
    NetworkClock(std::vector<int> cluster_of, const Machine& machine, const MachineCosts& costs);
    /// For messages whose times are known (Timed) only; `times` has ports, groups and credit.
    NetworkClock(std::vector<int> cluster_of, const SegmentTimes& times);

    std::size_t hosts() const { return cluster_of_.size(); }
    int cluster(std::size_t host) const { return cluster_of_[host]; }

    /// Of a message alone, or of one of many in a row. Good until the next call.
    const MessageTimes& times(std::size_t from, std::size_t to, Bytes bytes, bool is_stream = false);

    struct Sending {
        std::size_t to;
        Bytes bytes;
        double count = 1;  ///< of such messages, in a row
    };
    /// The same, whose times are known.
    struct Timed {
        std::size_t to;
        MessageTimes times;  ///< of all together
        double ramp = 0;     ///< how much longer than its times a flow that has rested takes
    };
    /// A message on its way, or several of a connection in a row.
    struct Message {
        std::size_t from;
        std::size_t to;
        MessageTimes times;
        double first = 0;  ///< its first byte came to the port or link where it is now
        double last = 0;   ///< its last byte is at the receiver, if nothing holds it up from now on
    };
    /// `from` sends messages, all of which it has at `ready`; adds them to `sent`.
    void send(std::size_t from, double ready, std::span<const Sending> messages, std::vector<Message>& sent);
    void send(std::size_t from, double ready, std::span<const Timed> messages, std::vector<Message>& sent);
    /// Messages that are sent pass all that is between their senders and their receivers: each link, and each
    /// port, takes that one of them first whose first byte comes first. Then `last` is when a message is
    /// there.
    void deliver(std::span<Message> messages);

    /// When a host's port can send the next message, and what is left of what a rested one saves.
    double out_free(std::size_t host) const { return out_free_[host]; }
    double credit(std::size_t host) const { return credit_[host]; }
    /// Accounts for what a host has sent without send(): its port has been busy for `seconds`, until `free`.
    void set_sent(std::size_t host, double free, double credit, double seconds) {
        out_free_[host] = free;
        credit_[host] = credit;
        busy_[host] += seconds;
    }
    /// What the busiest port takes when calls follow each other: its load, less the credit that it regains in
    /// a pause.
    double sustained() const;

  private:
    Timed timed(std::size_t from, const Sending& message);
    MessageTimes times_between(int a, int b, Bytes bytes, bool is_stream) const;

    NetworkClock(std::vector<int> cluster_of, std::size_t clusters, std::size_t groups, bool shares_ports);

    std::vector<int> cluster_of_;
    const MachineCosts* costs_ = nullptr;
    bool shares_ports_;
    std::vector<int> group_of_;   // by cluster
    std::vector<double> trunks_;  // bytes a second, from group to group
    std::size_t groups_;
    std::vector<double> out_free_;  // by host, as all of these
    std::vector<double> in_free_;
    std::vector<double> credit_;
    std::vector<double> in_credit_;  // what is left of it for what comes in
    std::vector<double> usual_credit_;
    std::vector<double> busy_;
    std::vector<double> in_busy_;
    std::vector<double> uplink_out_free_;  // by cluster
    std::vector<double> uplink_in_free_;
    std::vector<double> trunk_free_;
    /// What was asked for last between two clusters.
    struct Known {
        Bytes bytes = 0;
        bool is_stream = false;
        bool is_set = false;
        MessageTimes times;
    };
    std::vector<Known> known_;        // by pair of clusters
    std::vector<Timed> timed_;        // scratch of send()
    std::vector<double> shares_;      // of port_out, after the starts
    std::vector<std::size_t> order_;  // of deliver()
};

}  // namespace laple
