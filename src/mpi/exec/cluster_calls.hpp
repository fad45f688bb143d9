// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/schedule/schedule.hpp"
#include "mpi/exec/operands.hpp"
#include "mpi/exec/step_memory.hpp"

namespace laple::mpi {

/// Native steps: MPI's own broadcast and reduction among the ranks of a cluster. They block until the others
/// of the cluster have come. What they return is MPI's code.
class ClusterCalls {
  public:
    /// The references must outlive this.
    ClusterCalls(const StepMemory& memory, const Operands& operands, const Ways& ways)
        : memory_(memory), operands_(operands), ways_(ways) {}

    int bcast(const Step& step) const;
    int reduce(const Step& step) const;
    /// Takes part in a broadcast so that the others learn of an error.
    void spoil_bcast(const Step& step) const;

  private:
    int rank_in_cluster(Rank rank) const;

    const StepMemory& memory_;
    const Operands& operands_;
    const Ways& ways_;
};

}  // namespace laple::mpi
