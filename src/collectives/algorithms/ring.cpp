// SPDX-License-Identifier: BSD-3-Clause
// Allreduce in a ring over all hosts: sums of parts go around, each growing at every host, then results. And
// allgather: each host's blocks go around, from group to group, cluster to cluster and host to host; or short
// ones in few rounds, in which every host has twice as many.
//
//     ring     (P-1) (r(m/P) + g(m/P) + 2 L)         allreduce
//              (P-1) (g(m) + L)                      allgather
//     bruck    log2 P L + sum g(2^j m)               allgather
//
//                        0 <- 1 <- 2 <- 3 <- 4 <- 0      1 block
//                        0 <---- 2,  1 <---- 3 ...       2
//                        0 <------------ 4 ...           1, as no more is missing
//
// (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009; Bruck,
// Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", 1997)
#include <array>

#include "collectives/algorithms/parts.hpp"

namespace laple {
namespace {

template <typename Members>
void reduce(Members& members) {
    members.combine_on_hosts();
    members.ring_reduce_scatter();
    members.ring_allgather();
}

template <typename Members>
void gather(Members& members) {
    members.gather_on_hosts();
    members.ring_allgather();
}

template <typename Members>
void gather_in_few_rounds(Members& members) {
    members.gather_on_hosts();
    members.bruck_allgather();
    members.spread_gathered();
}

/// In the last rounds all hosts send at once to those that are far from them. Where the n hosts of a rack
/// share an uplink, of which nothing is known, that may take n times as long; in a ring one flow passes each
/// uplink.
constexpr Bytes kLongestInFewRounds = 16 * 1024;

constexpr std::array kVariants{
    PartsVariant{"ring", "sums of parts go around, then results", Collective::allreduce, false, true, reduce,
                 reduce},
    PartsVariant{"ring", "blocks of each host go around", Collective::allgather, false, false, gather,
                 gather},
    PartsVariant{"bruck", "hosts 1, 2, 4 ... apart pass on all blocks that they have", Collective::allgather,
                 false, false, gather_in_few_rounds, gather_in_few_rounds, false, true, false,
                 kLongestInFewRounds},
};

}  // namespace

Family ring_family() {
    return parts_family<kVariants>("parts or blocks go around all hosts",
                                   "Patarasuk and Yuan, 2009; Bruck et al., 1997");
}

}  // namespace laple
