// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple::mpi {

/// Writes `text` to the file that a setting names. Returns what went wrong, empty where nothing did. A named
/// pipe that nobody reads is an error, and no reason to wait for ever.
std::string write_result(const std::string& file, const std::string& text);

}  // namespace laple::mpi
