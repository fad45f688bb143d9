// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/node.hpp"

namespace laple::info {

/// The first ranks of all hosts, on all ranks of MPI_COMM_WORLD; `hosts` counts on rank 0. Collective.
std::vector<int> first_ranks(const std::optional<std::vector<Node>>& hosts);

/// The texts of all ranks of MPI_COMM_WORLD, in their order, on rank 0; elsewhere nothing. Collective.
std::vector<std::string> gather_texts(const std::string& text, int rank, int ranks);

}  // namespace laple::info
