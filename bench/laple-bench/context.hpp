// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <mpi.h>

#include "bench/laple-bench/options.hpp"
#include "bench/laple-bench/report.hpp"

namespace laple::bench {

/// Collective over `comm`; the result is complete on rank 0 only. `clock` and the late starts are left to the
/// caller.
Context describe_run(const Options& options, const std::vector<std::string>& command, MPI_Comm comm);

}  // namespace laple::bench
