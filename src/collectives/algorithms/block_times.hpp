// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/algorithms/block_routes.hpp"
#include "collectives/algorithms/pricing.hpp"

namespace laple {

/// How long a personalized collective takes. Hop by hop, and in each hop the sum of what its busiest port or
/// link has to serve, and the longest way:
///
///     Σ hops ( max over ports and links (Σ messages g) + max L )
///
/// `first` is the sum of these latencies, `sustained` what the busiest ports take. A sum of loads: in which
/// order a port serves messages does not count. (docs/algorithms.md, "Gather, scatter, all-to-all")
TreeTime block_time(Pricing& pricing, Aggregation aggregation);

}  // namespace laple
