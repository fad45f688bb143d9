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

void write(MemberSteps& steps) {
    steps.combine_on_hosts();
    steps.ring_reduce_scatter();
    steps.ring_allgather();
}
double time(Rounds rounds, Bytes bytes) {
    rounds.ring(part_of(rounds, bytes), true);
    rounds.ring(part_of(rounds, bytes), false);
    return rounds.last();
}

void write_gather(MemberSteps& steps) {
    steps.gather_on_hosts();
    steps.ring_allgather();
}
double time_of_gather(Rounds rounds, Bytes bytes) {
    rounds.ring(bytes, false);
    return rounds.last();
}

constexpr std::array kVariants{
    PartsVariant{"ring", "sums of parts go around, then results", Collective::allreduce, false, true, write,
                 time},
    PartsVariant{"ring", "blocks of each host go around", Collective::allgather, false, false, write_gather,
                 time_of_gather},
};

}  // namespace

Family ring_family() {
    return parts_family<kVariants>("parts or blocks go around all hosts", "Patarasuk and Yuan, 2009");
}

}  // namespace laple
