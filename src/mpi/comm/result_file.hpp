// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple::mpi {

/// Whether what is written there goes to a stream, a device, or wherever the program's own output goes: never
/// in place of what is there.
bool is_stream(const std::string& file);

/// Writes `text` to the file that a setting names, in place of what is in it unless is_stream(). Returns what
/// went wrong, empty where nothing did. A named pipe that nobody reads is an error, and no reason to wait for
/// ever.
std::string write_result(const std::string& file, const std::string& text);

}  // namespace laple::mpi
