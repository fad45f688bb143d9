// SPDX-License-Identifier: BSD-3-Clause
#include "base/json_reader.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace laple {

JsonReader::JsonReader(const JsonDocument& document, const std::string& format) : document_(document) {
    if (!document.root().is_object())
        throw document.error("", "this is no object",
                             fmt::format("write {{ \"format\": \"{}\", ... }}", format));
    if (text("/format") != format) throw wrong("/format", "is unknown", fmt::format("write \"{}\"", format));
}

bool JsonReader::has(const std::string& pointer) const {
    return document_.root().contains(Json::json_pointer(pointer));
}

const Json& JsonReader::at(const std::string& pointer) const {
    if (!has(pointer)) throw document_.error(pointer, fmt::format("there is no {}", pointer), "add it");
    return document_.root().at(Json::json_pointer(pointer));
}

const Json& JsonReader::array(const std::string& pointer) const {
    const Json& value = at(pointer);
    if (!value.is_array()) throw wrong(pointer, "is not a list", "write [ ... ]");
    return value;
}

std::map<std::string, std::string> JsonReader::members(const std::string& pointer) const {
    const Json& value = at(pointer);
    if (!value.is_object()) throw wrong(pointer, "is no object", "write { ... }");
    std::map<std::string, std::string> members;
    for (const auto& [name, unused] : value.items())
        members[name] = (Json::json_pointer(pointer) / name).to_string();
    return members;
}

std::string JsonReader::text(const std::string& pointer) const {
    const Json& value = at(pointer);
    if (!value.is_string()) throw wrong(pointer, "is not a string", "write it in quotes");
    return value.get<std::string>();
}

double JsonReader::positive(const std::string& pointer, const std::string& unit) const {
    const Json& value = at(pointer);
    if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>()))
        throw wrong(pointer, "is not a positive number", fmt::format("give {}", unit));
    return value.get<double>();
}

double JsonReader::at_least_0(const std::string& pointer, const std::string& unit) const {
    const Json& value = at(pointer);
    if (!value.is_number() || !(value.get<double>() >= 0) || !std::isfinite(value.get<double>()))
        throw wrong(pointer, "is not a number of 0 or more", fmt::format("give {}", unit));
    return value.get<double>();
}

int JsonReader::whole(const std::string& pointer, int min, int max) const {
    const Json& value = at(pointer);
    // Read as a floating-point number: an integer of any size then compares as it should.
    if (!value.is_number_integer() || value.get<double>() < min || value.get<double>() > max) {
        throw wrong(pointer, fmt::format("is not a whole number from {} to {}", min, max), "correct it");
    }
    return value.get<int>();
}

int JsonReader::named(const std::string& pointer, const std::vector<std::string>& names) const {
    const std::string name = text(pointer);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    const std::string nearest = nearest_name(name, names);
    throw wrong(pointer, fmt::format("names no {}", name),
                nearest.empty() ? "use a name of this file" : fmt::format("did you mean {}?", nearest));
}

Error JsonReader::wrong(const std::string& pointer, const std::string& problem,
                        const std::string& advice) const {
    return document_.error(pointer, fmt::format("{} {}", pointer, problem), advice);
}

std::string item_pointer(const std::string& list, std::size_t index, const std::string& member) {
    return fmt::format("{}/{}{}", list, index, member);
}

}  // namespace laple
