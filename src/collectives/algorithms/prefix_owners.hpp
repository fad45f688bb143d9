// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "collectives/algorithms/candidate.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/pricing.hpp"

namespace laple {

inline constexpr std::string_view kPrefixOwners = "prefix-owners";

/// prefix-owners[@SEGMENT]: a scan whose segments have an owner in every cluster, in turn its hosts, for any
/// placement of the ranks. Ranks that follow each other on a host are a run; runs that follow each other in a
/// cluster are a stretch of it.
///
///     rank       0  1 │ 2  3 │ 4  5 │ 6  7            1. a chain in every run; its last rank sends what the
///     host       a    │ b    │ c    │ a                  run has to the owner in its cluster
///     cluster    A ───┼──────┼ B    │ A               2. owners send what their stretches have to owners
///     stretch    0    │ 0    │ 1    │ 2                  elsewhere: one message each, one latency
///                                                     3. each run's last rank gets what all runs before it
///                                                        have, adds it, and passes it on to the run
///
/// Only neighbours are combined, in the order of the ranks, so the operation need not commute, and the bits
/// depend on the machine alone. With R stretches, R_c of them in cluster c, uplinks carry at most (C-1) R_c m
/// out and (R - R_c) m in: a cluster hears of those before its last one.
///
/// (Karonis et al., "MPICH-G2", JPDC 2003, for levels; GridMPI's allreduce for owners: docs/algorithms.md)
///
/// Throws Error where `name` is not that.
AlgorithmPtr parse_prefix_owners(const AlgorithmName& name);

/// Adds those of some segments.
void propose_prefix_owners(Pricing& pricing, std::vector<Candidate>& found);

}  // namespace laple
