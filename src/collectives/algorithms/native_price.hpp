// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/collective/collective.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple {

/// How long MPI's own collective takes at least, in seconds, as MPICH does it, which counts ranks and knows
/// no clusters:
///
///     bcast      a binomial tree; from 12 KiB on scatter (binomial) and allgather (ring)
///     reduce     a binomial tree; from 2 KiB on reduce-scatter (halving) and gather (binomial)
///     allreduce  recursive doubling; from 2 KiB on reduce-scatter and allgather (halving, doubling)
///     barrier    dissemination
///     allgather  recursive doubling; from 80 KiB of result on a ring, of 2^k ranks from 512 KiB on
///     gather     a binomial tree, whose messages double
///     scatter    the same downwards
///     alltoall   Bruck et al.: log P rounds of half of all blocks, up to 256 bytes of 8 ranks and more; else
///                all to all
///
/// Round by round, each rank when its partner is there; uplinks are not shared: an optimistic figure, so that
/// LaPle's own way is only taken where it is clearly better. (Thakur, Rabenseifner, Gropp, "Optimization of
/// Collective Communication Operations in MPICH", 2005)
double native_time(const Request& request, const Machine& machine, const MachineCosts& costs);

/// What is known best: what was measured on all ranks of the job, where it was. Measured with root 0: other
/// roots differ as native_time() says. Messages larger than any that was measured take as long as that one at
/// least, or as native_time() says: MPI may change its algorithm, and what was measured says nothing of that.
/// From 1 MiB on they go on as the last two sizes did.
struct NativePrice {
    double seconds = 0;
    bool is_measured = false;
};
NativePrice native_price(const Request& request, const Machine& machine, const MachineCosts& costs);

}  // namespace laple
