// SPDX-License-Identifier: BSD-3-Clause
#include "tools/run/options.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/configuration.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/version.hpp"
#include "collectives/planner/rules.hpp"
#include "model/model_file.hpp"
#include "tools/command_word.hpp"

namespace laple::run {
namespace {

constexpr const char* kHelp =
    R"(Runs a program with LaPle.

Examples:
  laple-run mpiexec -n 8 ./app
  laple-run --topology magpie_clusters --report mpiexec -hosts a,b,c ./app input
  laple-run --algorithm "bcast:0-64K:flat/binomial" mpiexec -n 8 ./app
  laple-run --profile mpiexec -n 8 ./app                      without LaPle's collectives: what would they gain?
  laple-run --disable mpiexec -n 8 ./app                      the same, without LaPle's collectives
  laple-run --print mpiexec -n 8 ./app                        only print what would be run
  laple-run srun -n 8 ./app                                   any launcher that hands on its environment)";

/// CLI11 does not know of the command that follows the options.
class HelpFormatter : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App*, std::string) const override {
        return "\nUsage: laple-run [OPTIONS] [--] COMMAND [ARGUMENT]...\n";
    }
};

/// The command line as it was typed.
struct RawOptions {
    std::string topology;
    std::string model;
    std::string algorithm;
    std::string report;
    std::string trace;
    std::string debug;
    std::string reproducible;
    std::string progress;
    bool is_profile = false;
    std::string profile_file;
    bool verify = false;
    bool disable = false;
    bool deep = false;
    bool print_only = false;
    bool is_quiet = false;
};

void declare(CLI::App& app, RawOptions& raw) {
    app.add_option("--topology", raw.topology,
                   "which ranks are near each other: what laple-discover wrote, auto (default) or off "
                   "(LAPLE_TOPOLOGY)")
        ->type_name("FILE");
    app.add_option("--model", raw.model, "what laple-discover --model wrote (LAPLE_MODEL)")
        ->type_name("FILE");
    app.add_option("--algorithm", raw.algorithm, "force or forbid algorithms (LAPLE_ALGORITHM)")
        ->type_name("SPEC");
    // A flag, because the value of an option could be the first word of the command.
    app.add_flag(
        "--report", raw.report,
        "say at the end what was used, on stderr or, with --report=FILE, in a file; FILE.json is for "
        "programs (LAPLE_REPORT)");
    app.add_option("--trace", raw.trace,
                   "write a timeline for ui.perfetto.dev and laple-plot timeline (LAPLE_TRACE)")
        ->type_name("FILE");
    app.add_option("--debug", raw.debug, "how much to tell: 0, 1 or 2 (LAPLE_DEBUG)")
        ->type_name("LEVEL")
        ->check(CLI::IsMember({"0", "1", "2"}));
    app.add_option(
           "--reproducible", raw.reproducible,
           "which bits reductions have that round: fast, stable (default) or strict (LAPLE_REPRODUCIBLE)")
        ->type_name("HOW")
        ->check(CLI::IsMember({"fast", "stable", "strict"}));
    app.add_option("--progress", raw.progress,
                   "what lets non-blocking collectives go on: calls (default) or thread (LAPLE_PROGRESS)")
        ->type_name("HOW")
        ->check(CLI::IsMember({"calls", "thread"}));
    app.add_flag("--profile", raw.is_profile,
                 "leave all calls to MPI, and say at the end what they took, who sent how much to whom, and "
                 "what LaPle would gain (LAPLE_PROFILE)");
    app.add_option("--json", raw.profile_file,
                   "with --profile: write that to FILE.json, too, for programs and laple-plot traffic")
        ->type_name("FILE.json");
    app.add_flag("--verify", raw.verify, "compare each result with that of MPI's own call (LAPLE_VERIFY)");
    app.add_flag("--disable", raw.disable, "load LaPle, but leave all calls to MPI (LAPLE_DISABLE)");
    app.add_flag("--deep", raw.deep,
                 "treat also what profilers hand on to PMPI (liblaple_deep; name them in LD_PRELOAD)");
    app.add_flag("--print", raw.print_only, "print the command that would be run, and end");
    app.add_flag("-q,--quiet", raw.is_quiet, "do not print the command that is run");
    app.set_version_flag("--version", "laple-run " + version_text());
    app.prefix_command();  // the first word that is not ours begins the command
    app.formatter(std::make_shared<HelpFormatter>());
}

/// The program may change its directory, and so may mpiexec.
std::string absolute(const std::string& file) {
    return std::filesystem::absolute(file).lexically_normal();
}

/// Whether it fits the job, only the job can tell; whether it is a map or a model at all is better said now.
std::string existing_file(const std::string& file) {
    parse_model_file(read_file(file), file);
    return absolute(file);
}

std::string existing_topology(const std::string& topology) {
    if (topology == "off" || topology == "auto") return topology;
    std::error_code ignored;
    if (!std::filesystem::exists(topology, ignored)) {
        throw Error(fmt::format("the topology file {} does not exist", topology),
                    "make it with laple-discover, or leave it out");
    }
    return existing_file(topology);
}

/// As LAPLE_REPORT has it.
std::string report_of(const std::string& given) {
    if (given == "true") return "1";
    return given == "0" || given == "1" ? given : absolute(given);
}

std::string good_algorithm(const std::string& algorithm) {
    parse_rules(algorithm);
    return algorithm;
}

/// "" for none, which ranks inherit as it is.
std::string existing_configuration(const std::string& file) {
    if (file == "none") return "";
    read_file(file);
    return absolute(file);
}

/// What the option says, or else what is in force, as `checked` has it. Configuration files are the ranks' to
/// read, too: what they say is only looked at.
void add(const char* name, const std::string& option, std::string (*checked)(const std::string&),
         Environment& settings) {
    const auto found = configuration().given.find(name);
    if (!option.empty()) {
        settings.emplace_back(name, checked(option));
    } else if (found != configuration().given.end() && !found->second.value.empty()) {
        const auto& [value, source] = found->second;
        try {
            const std::string good = checked(value);
            if (source == "environment" && !good.empty()) settings.emplace_back(name, good);
        } catch (const Error& error) {
            throw std::runtime_error(fmt::format("{}: {}", configuration().named(name), error.what()));
        }
    }
}

std::string good_profile_file(const std::string& file) {
    if (file.ends_with(".json")) return absolute(file);
    throw Error(fmt::format("--json {}: the name of the file must end in .json", file),
                "write --json profile.json before the program");
}

Environment settings_of(const RawOptions& raw) {
    if (!raw.is_profile && !raw.profile_file.empty())
        throw Error("--json is for a profile", "write --profile --json FILE.json, or --report=FILE.json");
    Environment settings;
    add("LAPLE_CONFIG", "", existing_configuration, settings);
    add("LAPLE_TOPOLOGY", raw.topology, existing_topology, settings);
    add("LAPLE_MODEL", raw.model, existing_file, settings);
    add("LAPLE_ALGORITHM", raw.algorithm, good_algorithm, settings);
    add("LAPLE_REPORT", raw.report, report_of, settings);
    add("LAPLE_TRACE", raw.trace, absolute, settings);
    if (!raw.debug.empty()) settings.emplace_back("LAPLE_DEBUG", raw.debug);
    if (!raw.reproducible.empty()) settings.emplace_back("LAPLE_REPRODUCIBLE", raw.reproducible);
    if (!raw.progress.empty()) settings.emplace_back("LAPLE_PROGRESS", raw.progress);
    if (!raw.profile_file.empty()) {
        settings.emplace_back("LAPLE_PROFILE", good_profile_file(raw.profile_file));
    } else if (raw.is_profile) {
        const std::string& file = configuration().settings.profile_file;
        settings.emplace_back("LAPLE_PROFILE", file.empty() ? "1" : absolute(file));
    }
    if (raw.verify) settings.emplace_back("LAPLE_VERIFY", "1");
    if (raw.disable) settings.emplace_back("LAPLE_DISABLE", "1");
    return settings;
}

/// Where `file` cannot be written by a process of this host, for people; else "".
std::string output_warning(const std::string& name, const std::string& file) {
    const std::filesystem::path path = absolute(file);
    const std::filesystem::path folder = path.parent_path();
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(path, ignored);
    const bool is_folder = std::filesystem::is_directory(path, ignored);
    const int failure = is_there ? access(path.c_str(), W_OK) : access(folder.c_str(), W_OK | X_OK);
    if (!is_folder && failure == 0) return "";
    const int reason = is_folder ? EISDIR : errno;
    const std::string advice =
        reason == ENOENT ? fmt::format("make the folder {}", folder.string()) : "name another file";
    return fmt::format(
        "{}: {} cannot be written on this host: {}; {}, unless rank 0, which writes it when the job ends, is "
        "on another host",
        name, path.string(), std::strerror(reason), advice);
}

/// Of files that are written when the job ends: then it is too late to name others. What the options say, or
/// else what is in force.
std::vector<std::string> output_warnings(const Environment& settings) {
    const Settings& in_force = configuration().settings;
    const std::pair<const char*, std::string> outputs[] = {{"LAPLE_REPORT", in_force.report},
                                                           {"LAPLE_TRACE", in_force.trace},
                                                           {"LAPLE_PROFILE", in_force.profile_file}};
    std::vector<std::string> warnings;
    for (const auto& [name, in_force_file] : outputs) {
        std::string file = in_force_file;
        for (const auto& [given, value] : settings) {
            if (given == name) file = value;
        }
        if (file.empty() || file == "-" || file == "0" || file == "1") continue;
        if (file == "/dev/stdout" || file == "/dev/stderr") continue;  // the job's, which may be others
        const std::string warning = output_warning(name, file);
        if (!warning.empty()) warnings.push_back(warning);
    }
    return warnings;
}

/// Takes the "--" off, and refuses an option that is not ours where the command should begin.
std::vector<std::string> command_of(const CLI::App& app) {
    std::vector<std::string> words = app.remaining();
    const bool marked = !words.empty() && words.front() == "--";
    if (marked) words.erase(words.begin());
    if (words.empty())
        throw Error("there is no command to run", "write it last: laple-run mpiexec -n 8 ./app");
    if (marked || !words.front().starts_with('-')) return words;
    throw unknown_option(words.front(), {&app}, "laple-run --help");
}

}  // namespace

std::optional<Options> parse_options(const std::vector<std::string>& arguments, std::ostream& out) {
    RawOptions raw;
    CLI::App app(kHelp, "laple-run");
    declare(app, raw);
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
        out << app.help();
        return std::nullopt;
    } catch (const CLI::CallForVersion& version) {
        out << version.what() << '\n';
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        throw Error(error.what(), "see laple-run --help");
    }
    Options options;
    options.command = command_of(app);
    options.settings = settings_of(raw);
    options.warnings = output_warnings(options.settings);
    options.print_only = raw.print_only;
    options.is_quiet = raw.is_quiet;
    options.is_deep = raw.deep;
    options.is_profile = raw.is_profile || configuration().settings.is_profile;
    options.has_bare_report = raw.report == "true";
    return options;
}

}  // namespace laple::run
