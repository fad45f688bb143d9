// SPDX-License-Identifier: BSD-3-Clause
#include "base/probe_rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace laple {

int probe_round_count(int n) {
    if (n < 2) return 0;
    return n % 2 == 0 ? n - 1 : n;
}

// m-1 nodes sit on a circle, and in round r those whose numbers add up to r (mod m-1) meet. The one that
// would meet itself, 2i = r, meets node m-1 in the middle instead; r*m/2 is that i, since m = 1 (mod m-1).
// With an odd n the middle is empty: who is sent there idles.
int partner(int i, int round, int n) {
    const int m = n + n % 2;
    const int circle = m - 1;
    int other = 0;
    if (i == circle) {
        other = static_cast<int>(static_cast<long long>(round) * (m / 2) % circle);
    } else {
        other = (round - i + circle) % circle;
        if (other == i) other = circle;
    }
    return other < n ? other : -1;
}

std::vector<ProbeRound> rounds_of_all(std::span<const int> nodes) {
    const int n = static_cast<int>(nodes.size());
    std::vector<ProbeRound> rounds;
    for (int round = 0; round < probe_round_count(n); ++round) {
        ProbeRound& pairs = rounds.emplace_back();
        for (int i = 0; i < n; ++i) {
            const int other = partner(i, round, n);
            if (other <= i) continue;
            const auto [a, b] =
                std::minmax(nodes[static_cast<std::size_t>(i)], nodes[static_cast<std::size_t>(other)]);
            pairs.push_back({a, b});
        }
    }
    return rounds;
}

std::vector<ProbeRound> rounds_of(std::span<const NodePair> pairs) {
    std::vector<ProbeRound> rounds;
    std::map<int, std::vector<bool>> busy;  // of each node: in which rounds
    for (const NodePair& pair : pairs) {
        std::vector<bool>& of_a = busy[pair.a];
        std::vector<bool>& of_b = busy[pair.b];
        std::size_t round = 0;
        while ((round < of_a.size() && of_a[round]) || (round < of_b.size() && of_b[round])) ++round;
        for (std::vector<bool>* of_node : {&of_a, &of_b}) {
            if (of_node->size() <= round) of_node->resize(round + 1);
            (*of_node)[round] = true;
        }
        if (rounds.size() <= round) rounds.resize(round + 1);
        rounds[round].push_back(pair);
    }
    return rounds;
}

}  // namespace laple
