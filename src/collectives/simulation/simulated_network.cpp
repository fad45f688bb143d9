// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulation/simulated_network.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace laple {
namespace {

/// Of a flow, from what large messages take.
double rate_of(const Curve& curve) {
    constexpr Bytes kLarge = 1 << 20;
    const double time = (curve.at(kLarge) - curve.at(0)).count();
    return time > 0 ? static_cast<double>(kLarge) / time : 0;
}

/// Bytes a second from each outermost group to each other one; 0: no limit is known.
std::vector<double> trunks_of(const Machine& machine, const MachineCosts& costs) {
    const auto& groups = machine.groups();
    std::vector<double> rates;
    for (const auto& from : groups) {
        for (const auto& to : groups) rates.push_back(&from == &to ? 0 : costs.rate_between(from, to));
    }
    return rates;
}

}  // namespace

SimulatedNetwork simulated_network(const Machine& machine, const MachineCosts& costs, bool is_stream) {
    const auto cluster = [&machine](Rank rank) { return machine.cluster_of_rank(rank); };
    const auto is_local = [&machine](Rank from, Rank to) {
        return machine.host_of(from) == machine.host_of(to);
    };
    const auto link = [&costs, cluster, is_local](Rank from, Rank to) -> const MachineCosts::Link& {
        if (is_local(from, to)) return costs.cluster(cluster(from)).memory;
        return costs.link(cluster(from), cluster(to));
    };
    const auto nic_of = [&costs, cluster](Rank from, Rank to) {
        const double out = costs.cluster(cluster(from)).nic_out;
        return out > 0 ? out : costs.cluster(cluster(to)).nic_in;
    };
    // While a stream that is slower than the NICs at its ends passes, these serve others too.
    const auto is_slow = [cluster, link, nic_of, is_stream](Rank from, Rank to) {
        return is_stream && cluster(from) != cluster(to) && nic_of(from, to) > rate_of(link(from, to).stream);
    };
    SimulatedNetwork network;
    network.gap = [link, nic_of, is_slow, is_stream](Rank from, Rank to, Bytes bytes) {
        const Curve& curve = is_stream ? link(from, to).stream : link(from, to).gap;
        if (!is_slow(from, to)) return curve.at(bytes);
        return std::min(curve.at(bytes),
                        curve.at(0) + Seconds(static_cast<double>(bytes) / nic_of(from, to)));
    };
    network.combining = [&costs, cluster](Rank rank, Bytes bytes) {
        return Seconds(costs.cluster(cluster(rank)).reduction * static_cast<double>(bytes));
    };
    // Of each host one to the network; of each rank one to the memory of its host.
    const auto hosts = static_cast<std::size_t>(machine.host_count());
    network.port_count = hosts + static_cast<std::size_t>(machine.rank_count());
    const auto port = [&machine, hosts, is_local](Rank rank, Rank from, Rank to) {
        return is_local(from, to) ? hosts + static_cast<std::size_t>(rank)
                                  : static_cast<std::size_t>(machine.host_of(rank));
    };
    network.port_out = [port](Rank from, Rank to) { return port(from, from, to); };
    network.port_in = [port](Rank from, Rank to) { return port(to, from, to); };
    if (costs.shares_ports) {
        network.credit = [&costs, &machine, hosts](std::size_t number) {
            if (number >= hosts) return Seconds(0);
            return Seconds(costs.cluster(machine.cluster_of(static_cast<Host>(number))).credit());
        };
    }
    network.latency = [link](Rank from, Rank to) { return Seconds(link(from, to).latency); };
    // Links by number: trunks, uplinks, flows.
    network.shared_links = [&machine, &costs, cluster, link, is_slow, trunks = trunks_of(machine, costs)](
                               Rank from, Rank to) {
        std::vector<SimulatedNetwork::SharedLink> passed;
        const auto add = [&passed](std::size_t number, double rate) {
            if (rate > 0) passed.push_back({number, rate});
        };
        const auto at = [](int i) { return static_cast<std::size_t>(i); };
        const int a = cluster(from);
        const int b = cluster(to);
        if (a == b) return passed;
        const auto ranks = at(machine.rank_count());
        const std::size_t uplinks = trunks.size();
        const std::size_t flows = uplinks + 2 * at(costs.count());
        add(uplinks + 2 * at(a), costs.cluster(a).uplink_out);
        if (machine.has_groups()) {
            const auto trunk = at(machine.group_of(a)) * machine.groups().size() + at(machine.group_of(b));
            add(trunk, trunks[trunk]);
        }
        if (is_slow(from, to)) add(flows + at(from) * ranks + at(to), rate_of(link(from, to).stream));
        add(uplinks + 2 * at(b) + 1, costs.cluster(b).uplink_in);
        return passed;
    };
    return network;
}

}  // namespace laple
