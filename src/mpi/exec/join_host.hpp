// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/exec/host_memory.hpp"

namespace laple::mpi {

/// Makes memory for the ranks `on_host` of `comm`, which are on one host, ascending, and this rank among
/// them. Of each of them it takes at most `most` bytes: the least of what they say counts. nullptr on all of
/// them where one of them cannot have it. Collective over these ranks.
std::unique_ptr<HostMemory> join_host(MPI_Comm comm, std::span<const Rank> on_host, std::size_t most);

}  // namespace laple::mpi
