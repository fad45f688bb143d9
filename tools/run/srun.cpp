// SPDX-License-Identifier: BSD-3-Clause
#include "tools/run/srun.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace laple::run {
namespace {

/// What --export of srun says: the last one before the program, as far as that can be told: it has a path,
/// and no option before it that it could be the value of.
std::optional<std::string> export_option(const std::vector<std::string>& words) {
    constexpr std::string_view kOption = "--export";
    std::optional<std::string> value;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i];
        const bool is_value = words[i - 1].starts_with('-') && words[i - 1].find('=') == std::string::npos;
        if (word == "--" || (!word.starts_with('-') && !is_value && word.find('/') != std::string::npos))
            break;
        if (word == kOption && i + 1 < words.size()) {
            value = words[++i];
        } else if (word.starts_with(kOption) && word[kOption.size()] == '=') {
            value = word.substr(kOption.size() + 1);
        }
    }
    return value;
}

/// Of "PATH,HOME=/tmp": PATH, HOME.
std::vector<std::string> names_in(const std::string& list) {
    std::vector<std::string> names;
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ',');) names.push_back(part.substr(0, part.find('=')));
    return names;
}

}  // namespace

std::string export_warning(const Command& command) {
    if (std::filesystem::path(command.words.front()).filename() != "srun") return "";
    const auto list = export_option(command.words);
    if (!list) return "";
    const std::vector<std::string> names = names_in(*list);
    const auto is_exported = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (is_exported("ALL")) return "";
    std::vector<std::string> missing;
    for (const auto& [name, value] : command.environment) {
        if (!is_exported(name)) missing.push_back(name);
    }
    if (missing.empty()) return "";
    return fmt::format(
        "srun --export={} keeps {} from the ranks, which run without what was asked for; write --export=ALL, "
        "or add the names",
        *list, fmt::join(missing, ", "));
}

}  // namespace laple::run
