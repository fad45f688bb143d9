// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace laple::run {

/// Throws Error when a program among `words` is linked with another MPI than `library`: the loader would say
/// only that some symbol is missing, or handles would mean nothing. Programs that load MPI later, and those
/// that are found on other hosts only, are not seen.
void check_pairing(const std::vector<std::string>& words, const std::filesystem::path& library);

}  // namespace laple::run
