// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "topology/machine.hpp"
#include "topology/topology.hpp"

namespace laple::test {

/// A topology of 1 … `max_ranks` ranks with 0 … 3 levels of unequal groups, interleaved in half of the cases.
inline Topology random_topology(std::mt19937_64& random, int max_ranks) {
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
    const int size = draw(1, max_ranks);
    const bool interleaved = draw(0, 1) == 1;
    std::vector<int> label(static_cast<std::size_t>(size), 0);
    std::vector<std::vector<int>> levels;
    const int level_count = draw(0, 3);
    for (int level = 0; level < level_count; ++level) {
        int current = 0;
        for (std::size_t rank = 0; rank < label.size(); ++rank) {
            // Consecutive: a new group begins now and then. Interleaved: any of a few groups of the outer
            // one.
            if (draw(0, 3) == 0) ++current;
            label[rank] = label[rank] * 64 + (interleaved ? draw(0, 2) : current % 64);
        }
        levels.push_back(label);
    }
    return Topology::from_labels(size, levels);
}

/// Hosts in such a topology with 1 … 4 ranks each: in blocks, dealt round, or anywhere.
inline Machine random_machine(std::mt19937_64& random, int max_hosts) {
    const Topology hosts = random_topology(random, max_hosts);
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
    const int most = draw(1, 4);
    const bool are_alike = draw(0, 1) == 1;
    std::vector<int> left;
    for (int host = 0; host < hosts.size(); ++host) left.push_back(are_alike ? most : draw(1, most));
    std::vector<int> host_of;
    const int placement = draw(0, 2);
    if (placement == 1) {  // dealt round
        for (int round = 0; round < most; ++round) {
            for (int host = 0; host < hosts.size(); ++host) {
                if (round < left[static_cast<std::size_t>(host)]) host_of.push_back(host);
            }
        }
    } else {
        for (int host = 0; host < hosts.size(); ++host)
            host_of.insert(host_of.end(), static_cast<std::size_t>(left[static_cast<std::size_t>(host)]),
                           host);
        if (placement == 2) std::shuffle(host_of.begin(), host_of.end(), random);
    }
    std::vector<std::vector<int>> levels(static_cast<std::size_t>(hosts.level_count()));
    for (int level = 0; level < hosts.level_count(); ++level) {
        for (const int host : host_of)
            levels[static_cast<std::size_t>(level)].push_back(hosts.group_of(level, host));
    }
    return {Topology::from_labels(static_cast<int>(host_of.size()), levels), host_of};
}

}  // namespace laple::test
