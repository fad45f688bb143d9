// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace laple {

/// The members of one of our documents, checked as they are read. Every member is named by its JSON pointer,
/// and every function throws Error with file, line and pointer when it is missing or of another kind.
class JsonReader {
  public:
    /// Keeps a reference to `document`. Throws Error unless its "format" is `format`.
    JsonReader(const JsonDocument& document, const std::string& format);

    bool has(const std::string& pointer) const;
    const Json& at(const std::string& pointer) const;
    const Json& array(const std::string& pointer) const;
    /// The pointers of all members of the object at `pointer`, by their names.
    std::map<std::string, std::string> members(const std::string& pointer) const;
    std::string text(const std::string& pointer) const;
    /// A finite number above 0; `unit` is what the advice asks for: "bytes a second".
    double positive(const std::string& pointer, const std::string& unit) const;
    /// A finite number, 0 or above.
    double at_least_0(const std::string& pointer, const std::string& unit) const;
    /// A whole number from `min` to `max`.
    int whole(const std::string& pointer, int min, int max) const;
    /// The index in `names` of the name at `pointer`.
    int named(const std::string& pointer, const std::vector<std::string>& names) const;

    /// "/hosts/3 is given twice; put each host into one cluster", at its place in the file.
    Error wrong(const std::string& pointer, const std::string& problem, const std::string& advice) const;

  private:
    const JsonDocument& document_;
};

/// The pointer of an item of a list, or of a member of it: "/sites/2/name".
std::string item_pointer(const std::string& list, std::size_t index, const std::string& member = "");

}  // namespace laple
