// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <mpi.h>

#include "plogp/link_survey.hpp"

namespace laple::mpi {

/// One end of a flow, as a node sees it.
struct FlowEnd {
    int peer = 0;
    bool sends = false;
    int slower = 1;  ///< as in Flow
};

/// Runs all of this node's ends at the same time; the peers do the same. Messages go as fast as they can, a
/// window of each flow under way. Returns, for each end that receives, in order, how many bytes came in a
/// second: the middle of the time counts only, when what shapers let through at once has passed and all flows
/// are running.
std::vector<FlowRate> run_flows(MPI_Comm probes, const std::vector<FlowEnd>& ends,
                                const FlowOptions& options);

}  // namespace laple::mpi
