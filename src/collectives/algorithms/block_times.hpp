// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/algorithms/block_routes.hpp"
#include "collectives/algorithms/pricing.hpp"

namespace laple {

/// How long a personalized collective takes. Hop by hop, and in each hop the sum of what its busiest port or
/// link has to serve, and the longest way:
///
///     Σ hops ( max over ports and links (Σ messages g) + max L )
///
/// `first` is the sum of these latencies, `sustained` what the busiest ports take. A sum of loads: in which
/// order a port serves messages does not count, but that what comes straight to a root from afar comes after
/// what is near. (docs/algorithms.md, "Gather, scatter, all-to-all")
/// `segment_bytes`: of messages between hosts, or of those between clusters; 0: they are not cut.
TreeTime block_time(Pricing& pricing, Aggregation aggregation, Bytes segment_bytes);

enum class Blocks { alike, of_unknown_sizes };

/// Of each cluster: the seconds that each byte takes which a rank there sends to another cluster, if all
/// ranks spread what they send evenly over the time of the busiest port or link:
///
///     max over ports and links (Σ messages g)  /  bytes that the busiest rank has for other clusters
///
/// Then no queue fills. Sent as fast as ports allow, blocks of 64 KiB from 16 hosts at 4 sites overran the
/// queues of their uplinks, and took twice as long as at this pace. 0 where a rank has nothing to send. Of
/// what goes straight to a root only those share its link that come at the same time, as blocks of that size
/// do; those of unknown sizes all do.
std::vector<double> pace_of_blocks(Pricing& pricing, Aggregation aggregation, Bytes segment_bytes,
                                   Blocks blocks = Blocks::alike);

}  // namespace laple
