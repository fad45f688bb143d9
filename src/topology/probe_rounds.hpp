// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace laple {

/// How many rounds it takes until each of `n` nodes has met each other: n-1, or n when n is odd.
int probe_round_count(int n);

/// Whom node `i` meets in `round` (0 … probe_round_count(n)-1), or -1 when it idles, as one does in each
/// round when n is odd. Pairs of a round are disjoint, so that they may be measured at the same time, and
/// over all rounds every pair meets exactly once.
/// (Circle method for round-robin tournaments; "schedule parallel probes among independent pairs", seed 003.)
int partner(int i, int round, int n);

}  // namespace laple
