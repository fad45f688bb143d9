// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "collectives/collective/request.hpp"
#include "topology/machine.hpp"

namespace laple {

/// Names of algorithms that are good for a request of such a size on machines of several clusters of which no
/// rates are known; the best first, later ones are for operations that the earlier ones cannot do in order.
std::vector<std::string> preferences(const Request& request, const Machine& machine);

}  // namespace laple
