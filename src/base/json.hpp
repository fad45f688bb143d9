// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>  // the sole include of nlohmann in the project

#include "base/error.hpp"

namespace laple {

/// Keeps keys in the order in which they were written: what we print reads as we meant it.
using Json = nlohmann::ordered_json;

/// Without newlines, or each level `indent` further in. Bytes that are no UTF-8, as in names of hosts, are
/// replaced: by itself the library throws then.
inline std::string json_text(const Json& json, int indent = -1) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

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

/// The members of one of our documents, checked as they are read. Every member is named by its JSON pointer,
/// and every function throws Error with file, line and pointer when it is missing or of another kind.
class JsonReader {
  public:
    /// Keeps a reference to `document`. Throws Error unless its "format" is `format`.
    JsonReader(const JsonDocument& document, const std::string& format);

    bool has(const std::string& pointer) const;
    const Json& at(const std::string& pointer) const;
    const Json& array(const std::string& pointer) const;
    /// The pointers of all items of the list at `pointer`.
    std::vector<std::string> items(const std::string& pointer) const;
    /// The pointers of all members of the object at `pointer`, by their names.
    std::map<std::string, std::string> members(const std::string& pointer) const;
    std::string text(const std::string& pointer) const;
    /// Times, bytes and rates are never larger than this; sums and products of smaller ones do not overflow.
    static constexpr double kMost = 1e16;
    /// A number above 0, at most kMost; `unit` is what the advice asks for: "bytes a second".
    double positive(const std::string& pointer, const std::string& unit) const;
    /// A number from 0 to kMost.
    double at_least_0(const std::string& pointer, const std::string& unit) const;
    bool truth(const std::string& pointer) const;
    /// A whole number from `min` to `max`.
    int whole(const std::string& pointer, int min, int max) const;
    /// The index in `names` of the name at `pointer`.
    int named(const std::string& pointer, const std::vector<std::string>& names) const;

    /// "/hosts/3 is given twice; put each host into one cluster", at its place in the file.
    Error wrong(const std::string& pointer, const std::string& problem, const std::string& advice) const;

  private:
    double not_too_large(const std::string& pointer, const std::string& unit) const;

    const JsonDocument& document_;
};

/// The pointer of an item of a list, or of a member of it: "/sites/2/name".
std::string item_pointer(const std::string& list, std::size_t index, const std::string& member = "");

}  // namespace laple
