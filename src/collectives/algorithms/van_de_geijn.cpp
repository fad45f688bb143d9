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

void write_ring(MemberSteps& steps) {
    steps.scatter();
    steps.ring_allgather();
}
double time_of_ring(Rounds rounds, Bytes bytes) {
    rounds.binomial_down(bytes, true);
    rounds.ring(part_of(rounds, bytes), false);
    return rounds.last();
}

void write_doubling(MemberSteps& steps) {
    steps.scatter();
    steps.doubling_allgather();
    steps.spread_on_hosts();
}
double time_of_doubling(Rounds rounds, Bytes bytes) {
    rounds.binomial_down(bytes, true);
    rounds.doubling(part_of(rounds, bytes));
    return rounds.last();
}

constexpr std::array kVariants{
    PartsVariant{"scatter-ring", "parts are scattered, and gathered by all in a ring", Collective::bcast,
                 false, false, write_ring, time_of_ring},
    PartsVariant{"scatter-doubling", "parts are scattered, and gathered by all by recursive doubling",
                 Collective::bcast, true, false, write_doubling, time_of_doubling},
};

}  // namespace

Family van_de_geijn_family() {
    return parts_family<kVariants>("scatter and allgather over all hosts",
                                   "Barnett, van de Geijn et al., 1994");
}

}  // namespace laple
