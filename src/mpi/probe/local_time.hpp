// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

/// This process's clock. Simulated runs have an implementation of their own.
namespace laple::mpi {

std::int64_t local_now_ns();

/// Returns at `time_ns`, at once when that is past. Sleeps, then yields: ranks that share a core all get
/// their turn.
void wait_until_local(std::int64_t time_ns);

/// What the clock is called.
std::string local_clock_name();

}  // namespace laple::mpi
