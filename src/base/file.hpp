// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace laple {

/// No file of ours comes near; a mistyped name of a larger one is an error before every rank has read it.
inline constexpr std::size_t kLargestFile = 64U << 20;

/// The content of a regular file, without UTF-8's byte order mark. Throws Error when it cannot be read or
/// holds more than `most` bytes.
std::string read_file(const std::string& file, std::size_t most = kLargestFile);

/// The same for a file at a usual place: throws Error also when it belongs to neither this user nor root, or
/// can be written by others.
std::string read_trusted_file(const std::string& file, std::size_t most = kLargestFile);

/// The same for a file that LaPle itself has written: throws Error also when it is a symbolic link, or
/// root's.
std::string read_own_file(const std::string& file);

/// Puts a file that holds `content`, and that its user alone can read and write, in the place of `file`, as a
/// whole. What is there already, or at any name beside it, is never written to: a symbolic link is replaced.
/// "", or why it failed; then nothing has changed. What killed writers have left beside it is removed after
/// an hour.
std::string replace_file(const std::string& file, const std::string& content);

/// LaPle's folder among those of the user: $VARIABLE/laple, else $HOME/FOLDER/laple; "" when neither is set,
/// or not absolute. Reads the environment.
std::string user_directory(const char* variable, const std::string& folder);

}  // namespace laple
