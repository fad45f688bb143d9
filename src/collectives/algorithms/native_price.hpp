// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/collective/collective.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "topology/machine.hpp"

namespace laple {

/// How long MPI's own collective takes at least, in seconds, as MPICH 4 does it, which counts ranks and knows
/// no clusters:
///
///     bcast           a binomial tree; beyond 12 KiB, of 8 ranks and more, scatter (binomial) and allgather
///     (of
///                     2^k ranks up to 512 KiB doubling, else a ring)
///     reduce          a binomial tree; beyond 2 KiB, with an element for each rank, reduce-scatter (halving)
///                     and gather (binomial)
///     allreduce       recursive doubling; beyond 8 bytes, with an element for each rank, reduce-scatter and
///                     allgather (halving, doubling)
///     barrier         dissemination between hosts
///     allgather       recursive doubling of 2^k ranks, up to 512 KiB of result; of others Bruck et al., up
///     to
///                     80 KiB; else a ring
///     gather          a binomial tree, of all that is below
///     scatter         the same downwards
///     alltoall        Bruck et al.: log P rounds of half of all blocks, up to 256 bytes of 8 ranks and more;
///                     all to all; beyond 32 KiB pairwise
///     reduce-scatter  recursive halving; from 512 KiB in all on pairwise
///     scan, exscan    recursive doubling
///
/// Round by round, each rank when its partner is there: an optimistic figure, so that LaPle's own way is only
/// taken where it is clearly better. (Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication
/// Operations in MPICH", 2005; sizes: MPICH 4.0's tables)
double native_time(const Request& request, const Machine& machine, const MachineCosts& costs);

/// How many messages all ranks together send in that, between hosts and on them. 0 where it is not certain:
/// of longer calls of bcast, reduce and allreduce, which MPICH does in parts; and where blocks are combined,
/// and of prefixes. 0 of gather and scatter, too, whose trees have most messages on hosts: between 48 ranks
/// on 12 hosts and two cores blocks that went straight to the root, as many messages, took 11 ms, and MPI's
/// own 3.
std::size_t native_messages(const Request& request, const Machine& machine);

/// What is known best: what was measured on all ranks of the job, where it was; between two sizes by how much
/// those took longer than native_time() says. Measured with root 0: other roots differ as native_time() says.
/// Messages larger than any that was measured take as long as that one at
/// least, or as native_time() says: MPI may change its algorithm, and what was measured says nothing of that.
/// From 1 MiB on they go on as the last two sizes did.
struct NativePrice {
    double seconds = 0;
    bool is_measured = false;
};
NativePrice native_price(const Request& request, const Machine& machine, const MachineCosts& costs);

}  // namespace laple
