// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace laple::run {

/// The library called `name` (liblaple.so) that belongs to the program at `program`: both are in one build
/// tree (bin/, lib/) or one installation (bin/, lib/ or lib64/ or lib/x86_64-linux-gnu/). Throws Error when
/// there is none.
std::filesystem::path find_library(const std::filesystem::path& program, const std::string& name);

/// The value of LD_PRELOAD that adds `library` to `existing`, which may be empty. What is there stays in
/// front: a profiler sees the program's own calls. Throws Error for a path that LD_PRELOAD cannot hold.
std::string preload_value(const std::string& existing, const std::filesystem::path& library);

}  // namespace laple::run
