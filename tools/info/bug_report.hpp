// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "in_force.hpp"
#include "topology/node.hpp"

namespace laple::info {

/// What a report of a problem should bring along, as a .tar.gz in `file`; says on stdout what is in it.
/// `hosts` are there on rank 0, which writes. An exit code. Collective over MPI_COMM_WORLD; throws Error on
/// rank 0 alone, at the end.
int report_bug(const std::string& file, bool replaces, const std::optional<std::vector<Node>>& hosts,
               int rank, int ranks);

}  // namespace laple::info
