// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace laple {

/// Throws an Error that names the command of `app` that was meant, where `words` begin with none of its.
inline void expect_command(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty() || words.front().starts_with('-')) return;
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    const std::string& word = words.front();
    if (std::find(known.begin(), known.end(), word) != known.end()) return;
    const std::string nearest = nearest_name(word, known);
    throw Error(fmt::format("there is no command \"{}\"", word),
                nearest.empty() ? fmt::format("the commands are {}", fmt::join(known, ", "))
                                : fmt::format("did you mean {}?", nearest));
}

/// The error of a word that is no option of `apps`: which was meant, or that `help`, a command, lists them.
inline Error unknown_option(const std::string& word, const std::vector<const CLI::App*>& apps,
                            const std::string& help) {
    std::vector<std::string> known;
    for (const CLI::App* app : apps) {
        for (const CLI::Option* option : app->get_options()) known.push_back(option->get_name());
    }
    const std::string name = word.substr(0, word.find('='));
    const std::string nearest = name.starts_with("--") ? nearest_name(name, known) : "";
    return {fmt::format("unknown option \"{}\"", name),
            nearest.empty() ? "see " + help : fmt::format("did you mean {}?", nearest)};
}

/// For people: what is wrong with a command line that `app` could not parse. CLI11 names words that it does
/// not know, and not which option was meant.
inline std::string problem_of(const CLI::App& app, const CLI::ParseError& error) {
    std::vector<std::string> known;
    std::vector<const CLI::App*> apps{&app};
    for (const CLI::App* command : app.get_subcommands()) apps.push_back(command);
    for (const CLI::App* one : apps) {
        for (const CLI::Option* option : one->get_options()) {
            if (option->get_name().starts_with("--")) known.push_back(option->get_name());
        }
    }
    for (const std::string& word : app.remaining(true)) {
        const std::string name = word.substr(0, word.find('='));
        const std::string nearest = nearest_name(name, known);
        if (!nearest.empty()) return fmt::format("there is no {}; did you mean {}?", name, nearest);
    }
    return error.what();
}

}  // namespace laple
