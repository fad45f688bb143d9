// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <span>
#include <vector>

namespace laple {

struct NodePair {
    int a = 0;
    int b = 0;
    auto operator<=>(const NodePair&) const = default;
};

/// Pairs without a node in common, so that they may be measured at the same time.
using ProbeRound = std::vector<NodePair>;

/// How many rounds it takes until each of `n` nodes has met each other: n-1, or n when n is odd.
int probe_round_count(int n);

/// Whom node `i` meets in `round` (0 … probe_round_count(n)-1), or -1 when it idles, as one does in each
/// round when n is odd. Pairs of a round are disjoint, so that they may be measured at the same time, and
/// over all rounds every pair meets exactly once. (Circle method for round-robin tournaments; independent
/// pairs at a time: Barchet-Estefanel and Mounié, 2004.)
int partner(int i, int round, int n);

/// The rounds in which all of `nodes` meet each other, a < b in each pair.
std::vector<ProbeRound> rounds_of_all(std::span<const int> nodes);

/// Any pairs, in as few rounds as come out of giving each pair, in order, the first round in which both of
/// its nodes are free: at most 2·d - 1, where d is the number of pairs of the busiest node.
std::vector<ProbeRound> rounds_of(std::span<const NodePair> pairs);

/// Takes out pairs for which `is_done(pair)`, and rounds of which nothing is left.
template <typename IsDone>
void take_out(std::vector<ProbeRound>& rounds, IsDone is_done) {
    for (ProbeRound& round : rounds) std::erase_if(round, is_done);
    std::erase_if(rounds, [](const ProbeRound& round) { return round.empty(); });
}

}  // namespace laple
