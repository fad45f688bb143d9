// SPDX-License-Identifier: BSD-3-Clause
// Broadcast over all hosts by a binomial scatter and an allgather, in a ring or by recursive doubling:
//
//     scatter-ring         sum g(m/2^j) + log2 P L + (P-1) (g(m/P) + L)
//     scatter-doubling     2 sum g(m/2^j) + 2 log2 P L                   P a power of two
//
// (Barnett, Shuler, van de Geijn et al., "Interprocessor collective communication library", 1994; Thakur,
// Rabenseifner, Gropp, 2005)
#include <array>

#include "collectives/algorithms/parts.hpp"

namespace laple {
namespace {

template <typename Members>
void scatter_ring(Members& members) {
    members.scatter();
    members.ring_allgather();
}

template <typename Members>
void scatter_doubling(Members& members) {
    members.scatter();
    members.doubling_allgather();
    members.spread_on_hosts();
}

constexpr std::array kVariants{
    PartsVariant{"scatter-ring", "parts are scattered, and gathered by all in a ring", Collective::bcast,
                 false, false, scatter_ring, scatter_ring},
    PartsVariant{"scatter-doubling", "parts are scattered, and gathered by all by recursive doubling",
                 Collective::bcast, true, false, scatter_doubling, scatter_doubling},
};

}  // namespace

Family van_de_geijn_family() {
    return parts_family<kVariants>("scatter and allgather over all hosts",
                                   "Barnett, van de Geijn et al., 1994");
}

}  // namespace laple
