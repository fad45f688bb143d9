// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/simulated_network.hpp"

namespace laple {

SimulatedNetwork simulated_network(const Topology& topology, const NetworkCosts& costs, bool is_stream) {
    const auto link = [&, level = topology.level_count() - 1](Rank from,
                                                              Rank to) -> const NetworkCosts::Link& {
        return costs.link(topology.group_of(level, from), topology.group_of(level, to));
    };
    SimulatedNetwork network;
    network.gap = [link, is_stream](Rank from, Rank to, Bytes bytes) {
        return (is_stream ? link(from, to).stream : link(from, to).gap).at(bytes);
    };
    network.latency = [link](Rank from, Rank to) { return Seconds(link(from, to).latency); };
    return network;
}

}  // namespace laple
