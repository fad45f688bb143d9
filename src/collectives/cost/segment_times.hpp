// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/cost/machine_costs.hpp"

namespace laple {

/// What the ranks of one host add to an algorithm between hosts. Their memory serves each rank's messages one
/// after the other, each way for itself, while the ports of hosts serve others.
struct HostTime {
    double first = 0;     ///< the time of the first segment, all ways together
    double interval = 0;  ///< between two segments at the busiest rank
};

/// What one message of one size takes between any two clusters, in seconds: looked up once, used by all
/// candidates that send messages of that size.
///
///     NIC of the sender  ├ port ┤                the next message may leave, to anyone: as many in a row do
///     flow               ├─── gap ───┤           the next message to the same one may leave
///     network                        └ latency ┐
///     receiver                                 it is there
class SegmentTimes {
  public:
    /// What the messages are part of.
    enum class Use {
        single,  ///< a message of its own
        stream,  ///< one of many in a row
    };

    /// Those of a reduction have time reversed: messages go from the rank that combines them to the ranks
    /// that sent them, and combining is part of the sender's work.
    enum class Direction { broadcast, reduction };

    /// `groups`: the outermost groups as lists of clusters. What goes from one group to another shares their
    /// trunk. `costs` must outlive this.
    SegmentTimes(const MachineCosts& costs, const std::vector<std::vector<int>>& groups, Bytes bytes, Use use,
                 Direction direction);

    int count() const { return static_cast<int>(count_); }
    /// Whether messages share a port while they are under way; else each waits for those before it. Those of
    /// a reduction come from different ports at different times, so that they queue for the receiver's.
    bool shares_ports() const { return shares_ports_; }
    double gap(int from, int to) const { return gap_[at(from, to)]; }
    double port(int from, int to) const { return port_[at(from, to)]; }
    /// The part of port() that messages to several others queue for; of the rest each gets its share while
    /// all are under way.
    double start(int from, int to) const { return start_[at(from, to)]; }
    /// port() and start() of the same message to so many others of its cluster.
    double ports(int cluster, double count) const { return repeated(cluster, port(cluster, cluster), count); }
    double starts(int cluster, double count) const {
        return repeated(cluster, start(cluster, cluster), count);
    }
    /// What the root of a broadcast saves of ports(): a gap of memory is that of messages both ways at a time
    /// (memory_probe.hpp), and the root copies none out.
    double saved_by_root(int cluster) const {
        return is_copied_once(cluster) ? port(cluster, cluster) / 2 : 0;
    }
    double latency(int from, int to) const { return latency_[at(from, to)]; }
    /// The part of latency() in which the last message that came is combined; none of a broadcast.
    double combining(int cluster) const { return combining_[static_cast<std::size_t>(cluster)]; }
    /// What the ranks on the hosts of a cluster add, before a reduction or after a broadcast; nothing until
    /// it is set.
    const HostTime& on_host(int cluster) const { return on_host_[static_cast<std::size_t>(cluster)]; }
    void set_on_host(int cluster, const HostTime& time) {
        on_host_[static_cast<std::size_t>(cluster)] = time;
    }
    bool is_of_reduction() const { return direction_ == Direction::reduction; }
    /// How much port time, beyond the starts of messages, the burst of an idle NIC saves in one
    /// collective. None where ports queue: their times are of the longest kind.
    double credit(int cluster) const { return credit_[static_cast<std::size_t>(cluster)]; }
    /// The same in each of many collectives, with a pause after each.
    double usual_credit(int cluster) const { return std::min(credit(cluster), MachineCosts::kUsualPause); }
    /// What of `busy`, the time of messages inside a cluster in a port, no burst saves: with all ranks at
    /// work a rank needs its processor for each of them, and for handshakes.
    double unsaved(int cluster, double busy) const {
        return busy * unsaved_[static_cast<std::size_t>(cluster)];
    }
    /// The credit of a flow: one that is not much slower than its NIC is held up by that.
    double credit_of_flow(int from, int to) const {
        return MachineCosts::is_held_up_by_port(gap(from, to), port(from, to)) ? credit(from) : 0;
    }
    /// How long a message alone takes to leave, with the whole burst available; uplinks have none.
    double at_best(int from, int to) const {
        const double uplinks = from == to ? 0 : std::max(uplink_out(from), uplink_in(to));
        return std::max(gap(from, to) - credit_of_flow(from, to), std::min(uplinks, gap(from, to)));
    }
    /// How much longer than by its gaps a flow takes for so many segments in one call, if it was idle before.
    /// (MachineCosts::ramp)
    double ramp(int from, int to, double segments) const {
        if (from == to || bytes_ <= 0) return 0;
        return costs_.ramp(latency(from, to), segments * bytes_, gap(from, to) / bytes_);
    }
    /// What is left of such a time.
    double after_credit(int cluster, double time) const { return std::max(time - credit(cluster), 0.0); }
    /// Where a message takes `each`.
    double seconds_a_byte(double each) const { return bytes_ > 0 ? each / bytes_ : 0; }
    /// In which the uplink of a cluster takes one message.
    double uplink_out(int cluster) const { return uplink_out_[static_cast<std::size_t>(cluster)]; }
    /// The same on the way in: flows from several ranks together are no faster than that.
    double uplink_in(int cluster) const { return uplink_in_[static_cast<std::size_t>(cluster)]; }

    /// Whether groups have several clusters. Where they have one each, a flow's gap says all of what trees
    /// can do, but not of lanes.
    bool has_trunks() const { return groups_ < count(); }
    int groups() const { return groups_; }
    int group_of(int cluster) const { return group_of_[static_cast<std::size_t>(cluster)]; }
    /// In which the trunk from one group to another takes one message; 0: no limit is known.
    double trunk(int from_group, int to_group) const {
        return trunk_[static_cast<std::size_t>(from_group * groups_ + to_group)];
    }

  private:
    void find_trunks(const MachineCosts& costs, const std::vector<std::vector<int>>& groups, double bytes,
                     bool is_backwards);
    double repeated(int cluster, double each, double count) const {
        if (!is_copied_once(cluster) || count <= 1) return count * each;
        return each + (count - 1) * std::min(costs_.link(cluster, cluster).stream.at(0).count(), each);
    }
    bool is_copied_once(int cluster) const {
        const auto most = static_cast<double>(costs_.link(cluster, cluster).copied_once);
        return direction_ == Direction::broadcast && most > 0 && bytes_ <= most;
    }
    std::size_t at(int from, int to) const {
        return static_cast<std::size_t>(from) * count_ + static_cast<std::size_t>(to);
    }

    std::size_t count_;
    bool shares_ports_;
    const MachineCosts& costs_;
    double bytes_;
    std::vector<double> gap_;
    std::vector<double> port_;
    std::vector<double> start_;
    std::vector<double> latency_;
    std::vector<double> uplink_out_;
    std::vector<double> uplink_in_;
    std::vector<double> credit_;
    std::vector<double> unsaved_;  // of a port's time, by cluster
    std::vector<double> combining_;
    std::vector<HostTime> on_host_;
    Direction direction_;
    int groups_ = 0;
    std::vector<int> group_of_;
    std::vector<double> trunk_;
};

}  // namespace laple
