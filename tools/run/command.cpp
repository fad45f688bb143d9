// SPDX-License-Identifier: BSD-3-Clause
#include "tools/run/command.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <unistd.h>

#include "tools/run/library.hpp"

namespace laple::run {
namespace {

/// mpiexec's own "-genv LD_PRELOAD value", or "-genv LD_PRELOAD=value", would win over ours: put the library
/// there as well.
void add_to_preload_options(std::vector<std::string>& words, const std::filesystem::path& library) {
    constexpr std::string_view kAssigned = "LD_PRELOAD=";
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i - 1] != "-genv" && words[i - 1] != "-env") continue;
        if (words[i] == "LD_PRELOAD" && i + 1 < words.size()) {
            words[i + 1] = preload_value(words[i + 1], library);
        } else if (words[i].starts_with(kAssigned)) {
            words[i] = std::string(kAssigned) + preload_value(words[i].substr(kAssigned.size()), library);
        }
    }
}

}  // namespace

bool is_mpiexec(const std::string& word) {
    constexpr std::array<std::string_view, 6> kNames{"mpiexec",      "mpirun",        "mpiexec.hydra",
                                                     "mpirun.hydra", "mpiexec.mpich", "mpirun.mpich"};
    const std::string name = std::filesystem::path(word).filename();
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string quoted(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("_-./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (plain) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

Command with_laple(const std::vector<std::string>& words, const std::string& existing_preload,
                   const std::filesystem::path& library, const Environment& settings) {
    Environment environment{{"LD_PRELOAD", preload_value(existing_preload, library)}};
    environment.insert(environment.end(), settings.begin(), settings.end());
    if (!is_mpiexec(words.front())) return {environment, words};
    std::vector<std::string> rest(words.begin() + 1, words.end());
    add_to_preload_options(rest, library);
    Command command{{}, {words.front()}};
    for (const auto& [name, value] : environment) {
        command.words.insert(command.words.end(), {"-genv", name, value});
    }
    command.words.insert(command.words.end(), rest.begin(), rest.end());
    return command;
}

std::string format_shell(const Command& command) {
    std::string line;
    for (const auto& [name, value] : command.environment) line += name + "=" + quoted(value) + " ";
    for (const auto& word : command.words) line += quoted(word) + " ";
    line.pop_back();
    return line;
}

int execute(const Command& command) {
    for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (const auto& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    return errno == ENOENT ? 127 : 126;
}

}  // namespace laple::run
