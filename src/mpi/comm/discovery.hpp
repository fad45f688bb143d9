// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <mpi.h>

#include "base/options.hpp"
#include "base/units.hpp"
#include "model/model.hpp"

namespace laple::mpi {

/// Measures latencies between the nodes of `comm` and finds the clusters in them, in the budget at most, or
/// little more; then rates, as far as half of that time again allows (plogp/link_sweep.hpp), and with the
/// other half MPI's own collectives. On rank 0 the model, with ranks of `comm`; nothing when the budget did
/// not suffice for the latencies, and on other ranks. Collective. (LAPLE_TOPOLOGY=auto)
std::optional<Model> discover(MPI_Comm comm, const Settings& settings);

/// Whether half of `budget` may suffice to measure MPI's own collectives on all ranks of `model`.
bool can_measure_natives(const Model& model, Seconds budget);

/// Measures MPI's own collectives on all ranks of `comm`, for half of the budget at most: what LaPle is to be
/// better than; and messages inside hosts. Collective; the result is rank 0's.
NativeTimes discover_natives(MPI_Comm comm, const Settings& settings);

}  // namespace laple::mpi
