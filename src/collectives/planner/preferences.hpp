// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "collectives/collective/request.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Names of algorithms that are good for a request of that size on a machine of several clusters with unknown
/// rates, best first; later ones are for operations whose order the earlier ones cannot keep.
std::vector<std::string> preferences(const Request& request, const Machine& machine);

}  // namespace laple
