// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "grid/layout.hpp"
#include "grid/scenario.hpp"

namespace laple::grid {

/// Makes the namespaces of a grid and configures what is in them, except the relay. Calls `check` between
/// steps, which may throw to give up. Throws MachineError; what was made until then stays.
void raise_namespaces(const Scenario& scenario, const GridLayout& layout, const std::function<void()>& check);

}  // namespace laple::grid
