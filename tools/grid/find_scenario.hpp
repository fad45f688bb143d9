// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple::grid {

/// The file of a scenario that is named by its path, or by the bare name of one that comes with LaPle.
/// Throws Error, listing the names that there are.
std::string find_scenario(const std::string& name);

}  // namespace laple::grid
