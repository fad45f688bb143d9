// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "topology/node.hpp"

namespace laple::mpi {

/// A number of 63 bits, so that it has a negative, that is equal on ranks of one host and almost surely not
/// on others. Local.
std::int64_t host_number();

/// The host's name of each rank of `comm`, on `root`; elsewhere nothing, and nothing after an MPI error.
/// Collective.
std::optional<std::vector<std::string>> gather_host_names(MPI_Comm comm, int root, int rank, int size);

/// The hosts of the ranks of `comm`, ordered by their first rank: ranks that share memory, as MPI says
/// (MPI_Comm_split_type); containers and cloned machines may share a name. On other ranks than `root`
/// nothing, and nothing after an MPI error. Collective, with MPI's own calls; by name where MPI has no
/// communicator left to say who shares memory.
std::optional<std::vector<Node>> gather_hosts(MPI_Comm comm, int root, int rank, int size);

}  // namespace laple::mpi
