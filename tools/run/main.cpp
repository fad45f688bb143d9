// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/run/command.hpp"
#include "tools/run/library.hpp"
#include "tools/run/options.hpp"
#include "tools/run/pairing.hpp"
#include "tools/run/srun.hpp"

namespace laple::run {
namespace {

constexpr int kBadInput = 2;

const char* library_for(const Options& options) {
    if (options.is_deep) return "liblaple_deep.so";
    return options.is_profile ? "liblaple_profile.so" : "liblaple.so";
}

/// Where there is no command `word`.
std::string advice(const std::string& word, const Options& options) {
    if (options.has_bare_report) return fmt::format("; if it is the report's file, write --report={}", word);
    if (is_mpiexec(word))
        return "; install MPICH (Debian: apt install mpich; in a Python environment: pip install mpich)";
    return "";
}

int run(const std::vector<std::string>& arguments) {
    const auto options = parse_options(arguments, std::cout);
    if (!options) return 0;
    const auto found = find_library(std::filesystem::read_symlink("/proc/self/exe"), library_for(*options));
    const auto library = paired_library(options->command, found);
    const std::string warning = launcher_warning(options->command, library);
    if (!warning.empty()) fmt::print(stderr, "laple-run: {}\n", warning);
    for (const std::string& each : options->warnings) fmt::print(stderr, "laple-run: {}\n", each);
    const char* existing = std::getenv("LD_PRELOAD");
    const Command command =
        with_laple(options->command, existing == nullptr ? "" : existing, library, options->settings);
    const std::string not_exported = export_warning(command);
    if (!not_exported.empty()) fmt::print(stderr, "laple-run: {}\n", not_exported);
    if (options->print_only || !options->is_quiet) fmt::print(stderr, "{}\n", format_shell(command));
    if (options->print_only) return 0;
    const int exit_code = execute(command);
    fmt::print(stderr, "laple-run: {}: {}\n", command.words.front(),
               exit_code == 127 ? "command not found" + advice(command.words.front(), *options)
                                : std::strerror(errno));
    return exit_code;
}

}  // namespace
}  // namespace laple::run

int main(int argc, char** argv) {
    try {
        return laple::run::run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "laple-run: {}\n", error.what());
        return laple::run::kBadInput;
    }
}
