// SPDX-License-Identifier: BSD-3-Clause
// Allreduce in a ring over all hosts: sums of parts go around, each growing at every host, then results. And
// allgather: each host's blocks go around, from group to group, cluster to cluster and host to host.
//
//     ring     (P-1) (r(m/P) + g(m/P) + 2 L)         allreduce
//              (P-1) (g(m) + L)                      allgather
//
// (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009)
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

constexpr std::array kVariants{
    PartsVariant{"ring", "sums of parts go around, then results", Collective::allreduce, false, true, reduce,
                 reduce},
    PartsVariant{"ring", "blocks of each host go around", Collective::allgather, false, false, gather,
                 gather},
};

}  // namespace

Family ring_family() {
    return parts_family<kVariants>("parts or blocks go around all hosts", "Patarasuk and Yuan, 2009");
}

}  // namespace laple
