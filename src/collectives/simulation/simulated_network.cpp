// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/simulated_network.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/index.hpp"

namespace laple {
namespace {

/// Bytes a second from each outermost group to each other one; 0: no limit is known.
std::vector<double> trunks_of(const Machine& machine, const MachineCosts& costs) {
    const auto& groups = machine.groups();
    std::vector<double> rates;
    for (const auto& from : groups) {
        for (const auto& to : groups) rates.push_back(&from == &to ? 0 : costs.rate_between(from, to));
    }
    return rates;
}

/// What single messages, or many in a row, take between ranks; the same as SegmentTimes has between clusters.
class Times {
  public:
    Times(const Machine& machine, const MachineCosts& costs, bool is_stream)
        : machine_(machine), costs_(costs), is_stream_(is_stream) {}

    int cluster(Rank rank) const { return machine_.cluster_of_rank(rank); }
    bool is_local(Rank from, Rank to) const { return machine_.host_of(from) == machine_.host_of(to); }
    const MachineCosts::Link& link(Rank from, Rank to) const {
        if (is_local(from, to)) return costs_.cluster(cluster(from)).memory;
        return costs_.link(cluster(from), cluster(to));
    }
    Seconds alone(Rank from, Rank to, Bytes bytes) const { return link(from, to).gap.at(bytes); }
    Seconds in_a_row(Rank from, Rank to, Bytes bytes) const {
        return std::min(link(from, to).stream.at(bytes), alone(from, to, bytes));
    }
    /// Of a flow: the next message between the same two ranks may leave.
    Seconds flow(Rank from, Rank to, Bytes bytes) const {
        return is_stream_ ? in_a_row(from, to, bytes) : alone(from, to, bytes);
    }
    /// Of a port: a flow that is slower than the NIC leaves room for others.
    Seconds port(Rank from, Rank to, Bytes bytes, double nic) const {
        const Seconds longest = in_a_row(from, to, bytes);
        if (cluster(from) == cluster(to) || nic <= 0) return longest;
        const Seconds passing(static_cast<double>(bytes) / nic);
        return std::min(longest, link(from, to).gap.at(0) + passing);
    }
    double nic_out(Rank rank) const { return costs_.cluster(cluster(rank)).nic_out; }
    double nic_in(Rank rank) const { return costs_.cluster(cluster(rank)).nic_in; }

  private:
    const Machine& machine_;
    const MachineCosts& costs_;
    bool is_stream_;
};

/// What messages between ranks share with others, by number: trunks, uplinks, flows.
class Links {
  public:
    Links(const Machine& machine, const MachineCosts& costs, const Times& times)
        : machine_(machine), costs_(costs), times_(times), trunks_(trunks_of(machine, costs)) {}

    std::vector<SimulatedNetwork::SharedLink> between(Rank from, Rank to, Bytes bytes) const {
        std::vector<SimulatedNetwork::SharedLink> passed;
        const auto add = [&](std::size_t number, double rate) {
            if (rate > 0) passed.push_back({number, Seconds(static_cast<double>(bytes) / rate)});
        };
        const int a = times_.cluster(from);
        const int b = times_.cluster(to);
        const std::size_t uplinks = trunks_.size();
        const std::size_t flows = uplinks + 2 * at(costs_.count());
        const Seconds flow = times_.flow(from, to, bytes);
        const Seconds port = times_.port(from, to, bytes, times_.nic_out(from));
        if (flow > port) {
            const bool has_credit = costs_.shares_ports && MachineCosts::is_held_up_by_port(flow, port);
            passed.push_back({flows + at(from) * at(machine_.rank_count()) + at(to), flow,
                              Seconds(has_credit ? costs_.cluster(a).credit() : 0)});
        }
        if (a == b) return passed;
        add(uplinks + 2 * at(a), costs_.cluster(a).uplink_out);
        const auto trunk = at(machine_.group_of(a)) * machine_.groups().size() + at(machine_.group_of(b));
        add(trunk, trunks_[trunk]);
        add(uplinks + 2 * at(b) + 1, costs_.cluster(b).uplink_in);
        return passed;
    }

  private:
    const Machine& machine_;
    const MachineCosts& costs_;
    Times times_;
    std::vector<double> trunks_;
};

}  // namespace

SimulatedNetwork simulated_network(const Machine& machine, const MachineCosts& costs, bool is_stream) {
    const Times times(machine, costs, is_stream);
    SimulatedNetwork network;
    network.gap = [times](Rank from, Rank to, Bytes bytes) {
        return times.port(from, to, bytes, times.nic_out(from));
    };
    network.gap_in = [times](Rank from, Rank to, Bytes bytes) {
        return times.port(from, to, bytes, times.nic_in(to));
    };
    network.latency = [times](Rank from, Rank to) { return Seconds(times.link(from, to).latency); };
    network.handshake = [times](Rank from, Rank to, Bytes bytes) {
        return times.alone(from, to, bytes) - times.flow(from, to, bytes);
    };
    network.combining = [&costs, times](Rank rank, Bytes bytes) {
        return Seconds(costs.cluster(times.cluster(rank)).reduction * static_cast<double>(bytes));
    };
    // Of each host one to the network; of each rank one to the memory of its host.
    const auto hosts = at(machine.host_count());
    network.port_count = hosts + at(machine.rank_count());
    const auto port = [&machine, hosts, times](Rank rank, Rank from, Rank to) {
        return times.is_local(from, to) ? hosts + at(rank) : at(machine.host_of(rank));
    };
    network.port_out = [port](Rank from, Rank to) { return port(from, from, to); };
    network.port_in = [port](Rank from, Rank to) { return port(to, from, to); };
    if (costs.shares_ports) {
        network.start = [times](Rank from, Rank to, Bytes bytes) {
            return times.is_local(from, to) ? times.in_a_row(from, to, bytes)
                                            : times.link(from, to).stream.at(0);
        };
        network.credit = [&costs, &machine, hosts](std::size_t number) {
            if (number >= hosts) return Seconds(0);
            return Seconds(costs.cluster(machine.cluster_of(static_cast<Host>(number))).credit());
        };
    }
    network.shared_links = [links = Links(machine, costs, times)](Rank from, Rank to, Bytes bytes) {
        return links.between(from, to, bytes);
    };
    return network;
}

}  // namespace laple
