// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace laple::mpi {

/// Where agreed start instants come from: one clock that all ranks read, or offsets to rank 0's clock.
enum class ClockChoice { automatic, shared, measured };

}  // namespace laple::mpi
