// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "situation.hpp"

namespace laple::plan {

/// The choice for every collective and each of `sizes`, beside what MPI's own call and plain two-level trees
/// (flat/binomial: MagPIe) are predicted to take. With `json` for programs.
std::string comparison(const Situation& situation, const std::vector<Bytes>& sizes, Rank root, bool json);

}  // namespace laple::plan
