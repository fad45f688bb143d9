// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace laple::run {

/// `library`, or the one of its name in laple/abi beside it where a program among `words` is linked with MPI
/// 5's standard ABI (libmpi_abi): a wheel has both. Throws Error when a program is linked with another MPI
/// than that one: the loader would say only that some symbol is missing, or handles would mean nothing.
/// Programs that load MPI later, and those that are found on other hosts only, are not seen.
std::filesystem::path paired_library(const std::vector<std::string>& words,
                                     const std::filesystem::path& library);

/// What is wrong where the mpiexec among `words` is of another MPI than `library`, for people: nothing fails
/// then, but there is no job. "" where that is not so, or not known, as of an mpiexec that is a script.
std::string launcher_warning(const std::vector<std::string>& words, const std::filesystem::path& library);

}  // namespace laple::run
