// SPDX-License-Identifier: BSD-3-Clause
// Allreduce over all hosts of a site, any number P of them, whose parts go straight to the hosts that own
// them:
//
//     pairwise     2 (P-1) g(m/P) + (P-1) r(m/P) + 2 L
//
//         0     1     2     3        each sends a part to each of the others, its right neighbour first,
//         └─►───┘     │     │        and sums up its own; then it sends the sum to all others
//         └──────►────┘     │
//         └─────────►───────┘
//
// multi-leader-pairwise: all ranks of a host take part, each with a slice of the message of its own.
//
// (Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", 2005, for
// the pairwise exchange; Patarasuk and Yuan, 2009, for the volume)
#include <array>

#include "collectives/algorithms/parts.hpp"

namespace laple {
namespace {

template <typename Members>
void pairwise(Members& members) {
    members.combine_on_hosts();
    members.pairwise_reduce_scatter();
    members.pairwise_allgather();
    members.spread_on_hosts();
}

constexpr std::array kVariants{
    PartsVariant{.name = "pairwise",
                 .in_words = "parts go straight to the hosts that sum them up, and sums to all",
                 .collective = Collective::allreduce,
                 .combines = true,
                 .write = pairwise,
                 .time = pairwise,
                 .goes_straight = true},
    PartsVariant{.name = "multi-leader-pairwise",
                 .in_words = "slices go straight to the ranks that sum them up, and sums to all",
                 .collective = Collective::allreduce,
                 .combines = true,
                 .write = pairwise,
                 .time = pairwise,
                 .by_slices = true,
                 .goes_straight = true},
};

}  // namespace

Family pairwise_family() {
    return parts_family<kVariants>("reduce-scatter by pairwise exchange over all hosts",
                                   "Thakur, Rabenseifner, Gropp, 2005");
}

}  // namespace laple
