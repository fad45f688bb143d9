// SPDX-License-Identifier: BSD-3-Clause
// Reductions over all hosts, a power of two of them, by recursive halving:
//
//     halving-gather       reduce      sum r(m/2^j) + sum g(m/2^j) + 2 log2 P L
//     halving-doubling     allreduce   the same
//
// multi-leader- : all ranks of a host take part, each with a slice of the message of its own; inside hosts
// reduce-scatter and allgather are direct. With n ranks a host, memory carries 2 m (n-1)/n of each rank in
// place of 2 m log2 n.
//
// (Rabenseifner, "Optimization of collective reduction operations", 2004; slices: Träff and Hunold,
// "Decomposing MPI collectives for exploiting multi-lane communication", 2020)
#include <array>

#include "collectives/algorithms/parts.hpp"

namespace laple {
namespace {

template <typename Members>
void halving_gather(Members& members) {
    members.combine_on_hosts();
    members.halving_reduce_scatter();
    members.gather();
    members.collect_at_root();
}

template <typename Members>
void halving_doubling(Members& members) {
    members.combine_on_hosts();
    members.halving_reduce_scatter();
    members.doubling_allgather();
    members.spread_on_hosts();
}

constexpr std::array kVariants{
    PartsVariant{"halving-doubling", "parts are combined by recursive halving, and gathered by all",
                 Collective::allreduce, true, true, halving_doubling, halving_doubling},
    PartsVariant{"multi-leader-halving-doubling",
                 "slices of the message are combined by recursive halving, and gathered by all",
                 Collective::allreduce, true, true, halving_doubling, halving_doubling, true},
    PartsVariant{"halving-gather", "parts are combined by recursive halving, and gathered by the root",
                 Collective::reduce, true, true, halving_gather, halving_gather},
    PartsVariant{"multi-leader-halving-gather",
                 "slices of the message are combined by recursive halving, and gathered by the root",
                 Collective::reduce, true, true, halving_gather, halving_gather, true},
};

}  // namespace

Family rabenseifner_family() {
    return parts_family<kVariants>("reduce-scatter by recursive halving over all hosts",
                                   "Rabenseifner, 2004");
}

}  // namespace laple
