// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mpi/probe/hosts.hpp"
#include "topology/node.hpp"

namespace laple::discover {

/// Where in its host each rank of the job may run, by its affinity: on rank 0; elsewhere, and where hosts
/// cannot be looked into, nothing. Collective over the layout's ranks. A host whose inside cannot be read is
/// named on stderr; its ranks then are nowhere (kNoPart).
std::vector<Placement> gather_placements(const mpi::NodeLayout& layout);

}  // namespace laple::discover
