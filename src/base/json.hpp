// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <nlohmann/json.hpp>  // the sole include of nlohmann in the project

#include "base/error.hpp"

namespace laple {

/// Keeps keys in the order in which they were written: what we print reads as we meant it.
using Json = nlohmann::ordered_json;

/// A JSON text that remembers where each value stands, so that a wrong value is reported as file:line.
/// Paths are JSON pointers: "" is the whole document, "/sites/0/hosts" a member of it.
class JsonDocument {
  public:
    /// Parses `text`; `file` is used in messages only. Throws Error at the place of a syntax error
    /// or of a key that is given twice.
    static JsonDocument parse(const std::string& text, const std::string& file);

    /// Reads and parses a file. Throws Error when it cannot be read.
    static JsonDocument load(const std::string& file);

    const Json& root() const { return root_; }

    /// The place of the value at `pointer`, or of its nearest parent that exists.
    FilePosition position(const std::string& pointer) const;

    /// An Error at the place of `pointer`.
    Error error(const std::string& pointer, const std::string& problem, const std::string& advice) const;

  private:
    std::string file_;
    Json root_;
    std::string text_;  // to find lines in: only errors ask for them
};

/// The whole content of a file. Throws Error when it cannot be read.
std::string read_file(const std::string& file);

}  // namespace laple
