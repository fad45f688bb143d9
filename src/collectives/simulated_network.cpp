// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulated_network.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/hierarchy.hpp"

namespace laple {
namespace {

/// Of a flow, from what large messages take.
double rate_of(const Curve& curve) {
    constexpr Bytes kLarge = 1 << 20;
    const double time = (curve.at(kLarge) - curve.at(0)).count();
    return time > 0 ? static_cast<double>(kLarge) / time : 0;
}

/// Bytes a second from each outermost group to each other one; 0: no limit is known.
std::vector<double> trunks_of(const Topology& topology, const NetworkCosts& costs) {
    const auto groups = groups_of_clusters(topology);
    std::vector<double> rates;
    for (const auto& from : groups) {
        for (const auto& to : groups) rates.push_back(&from == &to ? 0 : costs.rate_between(from, to));
    }
    return rates;
}

}  // namespace

SimulatedNetwork simulated_network(const Topology& topology, const NetworkCosts& costs, bool is_stream) {
    const auto cluster = [&topology, level = topology.level_count() - 1](Rank rank) {
        return topology.group_of(level, rank);
    };
    const auto link = [&costs, cluster](Rank from, Rank to) -> const NetworkCosts::Link& {
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
    if (costs.shares_ports)
        network.credit = [&costs, cluster](Rank rank) {
            return Seconds(costs.cluster(cluster(rank)).credit());
        };
    network.latency = [link](Rank from, Rank to) { return Seconds(link(from, to).latency); };
    // Links by number: trunks, uplinks, flows.
    network.shared_links = [&topology, &costs, cluster, link, is_slow, trunks = trunks_of(topology, costs)](
                               Rank from, Rank to) {
        std::vector<SimulatedNetwork::SharedLink> passed;
        const auto add = [&passed](std::size_t number, double rate) {
            if (rate > 0) passed.push_back({number, rate});
        };
        const auto at = [](int i) { return static_cast<std::size_t>(i); };
        const int a = cluster(from);
        const int b = cluster(to);
        if (a == b) return passed;
        const auto ranks = at(topology.size());
        const std::size_t uplinks = trunks.size();
        const std::size_t flows = uplinks + 2 * at(costs.count());
        add(uplinks + 2 * at(a), costs.cluster(a).uplink_out);
        if (topology.level_count() > 1) {
            const auto trunk =
                at(topology.group_of(0, from) * topology.group_count(0) + topology.group_of(0, to));
            add(trunk, trunks[trunk]);
        }
        if (is_slow(from, to)) add(flows + at(from) * ranks + at(to), rate_of(link(from, to).stream));
        add(uplinks + 2 * at(b) + 1, costs.cluster(b).uplink_in);
        return passed;
    };
    return network;
}

SimulatedNetwork simulated_network(const LocalCluster& cluster, bool is_stream) {
    SimulatedNetwork network;
    network.gap = [&curve = is_stream ? cluster.stream : cluster.gap](Rank, Rank, Bytes bytes) {
        return curve.at(bytes);
    };
    network.latency = [&cluster](Rank, Rank) { return Seconds(cluster.latency); };
    network.combining = [&cluster](Rank, Bytes bytes) {
        return Seconds(cluster.reduction * static_cast<double>(bytes));
    };
    return network;
}

}  // namespace laple
