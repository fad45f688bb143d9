// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/run/options.hpp"

namespace laple::run {

/// A command to execute with these environment variables added.
struct Command {
    Environment environment;
    std::vector<std::string> words;
};

/// Whether the word names the launcher of MPICH, which takes -genv. Another MPI's may have the same name.
bool is_mpiexec(const std::string& word);

/// Preloads `library` and adds `settings` to the command: as -genv options when it is MPICH's mpiexec, so
/// that the ranks get them and mpiexec itself does not; else in the environment of the command. What
/// `existing_preload`, or a -genv or -env of mpiexec, preloads already stays in front. Throws Error as
/// preload_value() does.
Command with_laple(const std::vector<std::string>& words, const std::string& existing_preload,
                   const std::filesystem::path& library, const Environment& settings);

/// `word` as a shell reads it back: in single quotes where it has to be.
std::string quoted(const std::string& word);

/// One line that does the same in a POSIX shell.
std::string format_shell(const Command& command);

/// Replaces this process by the command. Returns only when that fails, with the exit code that shells use:
/// 127 when there is no such command, 126 when it cannot be run; errno says why.
int execute(const Command& command);

}  // namespace laple::run
