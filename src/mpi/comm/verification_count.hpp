// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace laple::mpi {

/// What this process has compared so far with MPI's own results (LAPLE_VERIFY), and how often they were not
/// the same.
struct VerificationCount {
    std::atomic<int> compared{0};
    std::atomic<int> different{0};
};
inline VerificationCount verification_count;

}  // namespace laple::mpi
