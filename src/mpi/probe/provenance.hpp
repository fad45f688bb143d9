// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

namespace laple::mpi {

/// The first line of what MPI says of itself: "MPICH Version: 4.0.2".
std::string mpi_version();

/// The time, for people and files: ISO 8601, UTC.
std::string now_in_utc();

/// The variables of this process that change what MPI, its network library and LaPle do.
std::map<std::string, std::string> mpi_environment();

}  // namespace laple::mpi
