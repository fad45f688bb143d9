// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace laple {

/// A place in a text file, counted from 1; column 0 means "the whole line", line 0 "the whole file".
struct FilePosition {
    std::string file;
    int line = 0;
    int column = 0;
};

/// "file:line:column", leaving out what is 0.
std::string to_string(const FilePosition& position);

/// An error that its reader can act on: where it is, what is wrong, and what to do about it.
/// what() is "where: problem; advice", or "problem; advice" when there is no place to name;
/// control characters in it are written as \x1b.
/// Programs print it on stderr and exit with 2 (bad input).
class Error : public std::runtime_error {
  public:
    Error(const std::string& problem, const std::string& advice);
    Error(const FilePosition& where, const std::string& problem, const std::string& advice);
};

/// Of `candidates`, the one with the smallest edit distance to `word`, or "" when none is near
/// (more than half of the word would have to change). For "did you mean ...?".
template <typename Range>
std::string nearest_name(const std::string& word, const Range& candidates);

/// Levenshtein distance: insertions, deletions and substitutions that turn `a` into `b`.
std::size_t edit_distance(const std::string& a, const std::string& b);

template <typename Range>
std::string nearest_name(const std::string& word, const Range& candidates) {
    std::string best;
    std::size_t best_distance = word.size() / 2 + 1;
    for (const auto& candidate : candidates) {
        const std::size_t distance = edit_distance(word, std::string(candidate));
        if (distance < best_distance) {
            best_distance = distance;
            best = std::string(candidate);
        }
    }
    return best;
}

}  // namespace laple
