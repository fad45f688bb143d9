// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>
#include <vector>

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

}  // namespace laple::test
