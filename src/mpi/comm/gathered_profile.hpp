// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "mpi/comm/profile.hpp"
#include "mpi/comm/report.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

/// What is known of this rank alone, whose job has lasted so long. `machine`: MPI_COMM_WORLD, where it is
/// known.
Profile own_profile(const Report& report, const Report::Duration& job, const std::optional<Machine>& machine);

/// That of all ranks, on rank 0; on others anything. `machine` must be the same on all of them. `report`
/// learns what calls took on the rank that waited least. Collective over MPI_COMM_WORLD.
Profile gathered_profile(Report& report, const Report::Duration& job, const std::optional<Machine>& machine);

}  // namespace laple::mpi
