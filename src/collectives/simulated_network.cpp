// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulated_network.hpp"

#include <cstddef>
#include <vector>

#include "collectives/hierarchy.hpp"

namespace laple {
namespace {

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
    const auto link = [&, level = topology.level_count() - 1](Rank from,
                                                              Rank to) -> const NetworkCosts::Link& {
        return costs.link(topology.group_of(level, from), topology.group_of(level, to));
    };
    SimulatedNetwork network;
    network.gap = [link, is_stream](Rank from, Rank to, Bytes bytes) {
        return (is_stream ? link(from, to).stream : link(from, to).gap).at(bytes);
    };
    const int groups = topology.group_count(0);
    if (topology.level_count() > 1) {
        network.shared_links = [&topology, groups, trunks = trunks_of(topology, costs)](Rank from, Rank to) {
            const int a = topology.group_of(0, from);
            const int b = topology.group_of(0, to);
            const auto number = static_cast<std::size_t>(a * groups + b);
            std::vector<SimulatedNetwork::SharedLink> passed;
            if (trunks[number] > 0) passed.push_back({number, trunks[number]});
            return passed;
        };
    }
    network.latency = [link](Rank from, Rank to) { return Seconds(link(from, to).latency); };
    return network;
}

}  // namespace laple
