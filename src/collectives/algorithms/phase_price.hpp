// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "collectives/algorithms/phase.hpp"
#include "collectives/algorithms/pricing.hpp"
#include "collectives/cost/burst_price.hpp"

namespace laple {

/// How long an allreduce or barrier with an inter-cluster phase takes (phase.hpp), in seconds.
struct PhaseTime {
    double total = 0;
    double first = 0;  ///< the result of the first segment is everywhere
    double interval = 0;
    Binding binding;
};

/// How the leaders of a lane reach each other.
enum class LeadersTalk {
    all_at_once,  ///< each sends to all others
    in_rounds,    ///< log2 C rounds, in which pairs swap
};

/// What a phase is priced for: `groups` are the outermost groups, each a list of clusters, the leader's
/// first; `up` and `down` are the times of one segment in both directions.
struct PhaseNetwork {
    const std::vector<std::vector<int>>& groups;
    const SegmentTimes& up;
    const SegmentTimes& down;
};

/// Local reduction R, the leaders' phase, local broadcast B:
///
///     all at once, one lane   for the first segment max over pairs (R + ports + g + L) + B;
///                             the next ones come as the busiest port, flow or uplink lets them
///     k lanes, flat inside    each host sends a k-th to each leader of a lane, the leaders exchange k at a
///                             time, and each sends its result to all (GridMPI; docs/algorithms.md)
///     in rounds               the same, with g + L of each round after those that both have waited for
PhaseTime phase_time(const PhaseParameters& parameters, LeadersTalk talk, std::uint64_t segments,
                     const PhaseNetwork& network, TreePricer& pricer);

/// The price of `algorithm`, whose leaders send so many messages at once; nothing where there is none.
std::optional<Candidate> phase_price(Pricing& pricing, AlgorithmPtr algorithm,
                                     const PhaseParameters& parameters, LeadersTalk talk, double at_once);

/// The candidate of an inter-cluster phase that takes so long and sends such bursts.
Candidate phase_candidate(Pricing& pricing, AlgorithmPtr algorithm, Shape within, PhaseTime time,
                          const std::vector<ClusterBurst>& bursts, int crossings);

}  // namespace laple
