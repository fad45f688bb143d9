// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple::mpi {

/// The first line of what MPI says of itself: "MPICH Version: 4.0.2".
std::string mpi_version();

}  // namespace laple::mpi
