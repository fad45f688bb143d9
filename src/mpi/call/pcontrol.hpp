// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace laple::mpi {

/// By MPI_Pcontrol: 0 leaves all calls to MPI, where LAPLE_PCONTROL asks for that, anything else takes them
/// back.
inline std::atomic<bool> is_switched_off{false};

}  // namespace laple::mpi
