// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include <mpi.h>

#include "base/options.hpp"
#include "base/units.hpp"
#include "model/cache.hpp"
#include "model/model.hpp"

namespace laple::mpi {

struct Discovery {
    std::optional<Model> model;  ///< with ranks of the communicator; the budget may not have sufficed
    bool is_kept = false;        ///< then: the next job on these hosts goes on with what was measured
    std::string note;            ///< what is wrong with the cache
};

/// Measures latencies between the nodes of `comm` and finds the clusters in them, in the budget at most, or
/// little more; then rates, as far as half of that time again allows (plogp/link_sweep.hpp), and, where all
/// are near, some of MPI's own collectives. What an earlier job has left in `cache` is not measured again.
/// Collective; the result is rank 0's. (LAPLE_TOPOLOGY=auto)
Discovery discover(MPI_Comm comm, const Settings& settings, const ModelCache& cache);

/// Whether an earlier job had no time for all rates of `model`, and this one has some (time_for_sweep).
bool can_measure_rates(const Model& model, Seconds budget);

/// Goes on with the rates of `model`, rank 0's, for the hosts of `comm`, for as long as time_for_sweep()
/// says; what is not free is taken from the allowance (JobTimes). Collective; the result is rank 0's: the
/// links of `model` with what was measured since.
LinkModel discover_rates(MPI_Comm comm, const Settings& settings, const Model& model);

/// Whether MPI's own collectives are to be measured on all ranks of `model`, or more of them. Not between far
/// sites, nor where `budget` is small: it would take long, where LaPle's plans are mostly better, and
/// trials tell if one is not.
bool can_measure_natives(const Model& model, Seconds budget);

/// Measures MPI's own collectives on all ranks of `comm`: what LaPle is to be better than; and messages
/// inside hosts. The first job with these ranks may be short, and takes a twenty-fifth of the budget; later
/// ones go on for as long as the allowance says. `model`: of `comm`, rank 0's, as are the times that it may
/// have already. Collective; the result is rank 0's.
JobTimes discover_natives(MPI_Comm comm, const Settings& settings, const Model& model);

}  // namespace laple::mpi
