// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

namespace laple::mpi {

/// The first line of what MPI says of itself: "MPICH Version: 4.0.2".
std::string mpi_version();

/// How models name this MPI, with the transport that was chosen for this process when it first asked
/// (model/mpi_name.hpp). Environments of ranks may differ: rank 0's counts.
std::string mpi_in_use();

/// The time, for people and files: ISO 8601, UTC.
std::string now_in_utc();

/// The variables of this process that change what MPI, its network library and LaPle do.
std::map<std::string, std::string> mpi_environment();

}  // namespace laple::mpi
