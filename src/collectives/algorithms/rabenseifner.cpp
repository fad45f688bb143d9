// SPDX-License-Identifier: BSD-3-Clause
// Reductions over all hosts, a power of two of them, by recursive halving:
//
//     halving-gather       reduce      sum r(m/2^j) + sum g(m/2^j) + 2 log2 P L
//     halving-doubling     allreduce   the same
//
// (Rabenseifner, "Optimization of collective reduction operations", 2004)
#include <array>

#include "collectives/algorithms/parts.hpp"

namespace laple {
namespace {

void write_reduce(MemberSteps& steps) {
    steps.combine_on_hosts();
    steps.halving_reduce_scatter();
    steps.gather();
}
double time_of_reduce(Rounds rounds, Bytes bytes) {
    rounds.halving(bytes);
    rounds.binomial_up(part_of(rounds, bytes), true, false);
    return rounds.at_root();
}

void write_allreduce(MemberSteps& steps) {
    steps.combine_on_hosts();
    steps.halving_reduce_scatter();
    steps.doubling_allgather();
    steps.spread_on_hosts();
}
double time_of_allreduce(Rounds rounds, Bytes bytes) {
    rounds.halving(bytes);
    rounds.doubling(part_of(rounds, bytes));
    return rounds.last();
}

constexpr std::array kVariants{
    PartsVariant{"halving-doubling", "parts are combined by recursive halving, and gathered by all",
                 Collective::allreduce, true, true, write_allreduce, time_of_allreduce},
    PartsVariant{"halving-gather", "parts are combined by recursive halving, and gathered by the root",
                 Collective::reduce, true, true, write_reduce, time_of_reduce},
};

}  // namespace

Family rabenseifner_family() {
    return parts_family<kVariants>("reduce-scatter by recursive halving over all hosts",
                                   "Rabenseifner, 2004");
}

}  // namespace laple
