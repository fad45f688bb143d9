// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tools/run/command.hpp"

namespace laple::run {

/// Where Slurm's srun, by its option --export, keeps variables of `command` from the ranks: what to do, for
/// people; else "".
std::string export_warning(const Command& command);

}  // namespace laple::run
