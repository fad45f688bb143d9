// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/version.hpp"
#include "command_word.hpp"
#include "grid/check.hpp"
#include "grid/doctor.hpp"
#include "grid/find_scenario.hpp"
#include "grid/job.hpp"
#include "grid/keeper.hpp"
#include "grid/machine_error.hpp"

namespace laple::grid {
namespace {

constexpr const char* kDescription = R"(Examples:
  laple-grid run wan4x4 -- ./program                 16 hosts at 4 sites, one rank each, then gone
  laple-grid run wan4x4 -n 32 --env LD_PRELOAD=/usr/lib/liblaple.so -- ./program 8M
  laple-grid run wan4x4 -n 32 --placement cyclic -- ./program
  laple-grid check ocean3x4                          is the network what the file says?
  id=$(laple-grid up metro2x8); laple-grid exec $id -- ./program; laple-grid down $id
  laple-grid shell wan4x4-1 north-1 -- ping -c 3 10.2.0.1
  laple-grid set wan4x4-1 north uplink 25Mbit        from now on; also: set wan4x4-1 north:south delay 20ms
  laple-grid doctor                                  can this machine raise a grid?

Raises the hosts and sites of a grid as network namespaces on this machine, joined by an emulated
wide-area network, and runs MPI programs in it. A SCENARIO is a file, or the name of
one that comes with LaPle: metro2x8, wan4x4, hetero6, ocean3x4, single8, sites16,
zones3x4, pair2.)";

constexpr const char* kFooter = R"(
Exit status: the program's; 1 when check finds a figure off; 2 for a wrong command line or scenario;
3 when this machine cannot raise a grid; 124 after --timeout; 128 + N after signal N.)";

struct Options {
    std::string scenario;
    std::string grid;
    std::string host;
    std::array<std::string, 3> change;  ///< link, what and value
    Job job;
    Arguments command;  ///< after "--"
    bool all = false;
    bool json = false;
};

void prepare_machine() {
    become_root_in_user_namespace();
    require_machine();
}

Scenario prepare(const std::string& name) {
    Scenario scenario = load_scenario(find_scenario(name));
    prepare_machine();
    return scenario;
}

void report_raised(const GridState& grid, const Scenario& scenario) {
    explain(fmt::format("{} is up: {} hosts at {} sites", grid.layout.id, scenario.host_count(),
                        scenario.sites.size()));
}

int run(Options& options) {
    options.job.program = options.command;
    check_job(options.job);
    const Scenario scenario = load_scenario(find_scenario(options.scenario));
    // What is wrong is said before anything is raised.
    runs_of_job(options.job, hosts_of_job(options.job, make_layout(scenario, scenario.name)));
    prepare_machine();
    const EndSignals signals;
    Grid grid(scenario, signals);
    report_raised(grid.state(), scenario);
    const int status = run_job(options.job, grid.state(), signals, grid.keeper_fd());
    if (is_verbose()) fmt::print(stderr, "{}", read_counters(grid.state()));
    return status;
}

int check(const Options& options) {
    const Scenario scenario = prepare(options.scenario);
    const EndSignals signals;
    Grid grid(scenario, signals);
    report_raised(grid.state(), scenario);
    const auto check_wanted = [&] {
        if (const auto received = signals.next()) throw Interrupted{received->number};
    };
    return check_grid(scenario, grid.state().layout, check_wanted) ? 0 : kExitOff;
}

int up(const Options& options) {
    if (geteuid() != 0) {
        throw MachineError("a grid of an ordinary user cannot outlive its laple-grid",
                           "use laple-grid run, or run laple-grid up as root");
    }
    const Scenario scenario = prepare(options.scenario);
    const EndSignals signals;
    Grid grid(scenario, signals);
    report_raised(grid.state(), scenario);
    grid.leave_standing();
    fmt::print("{}\n", grid.state().layout.id);
    return 0;
}

GridState find_raised(const std::string& id) {
    GridState grid = find_grid(id);
    if (!grid.raised) throw Error(fmt::format("grid {} is not up yet", id), "wait a second");
    return grid;
}

int exec(Options& options) {
    options.job.program = options.command;
    check_job(options.job);
    const GridState grid = find_raised(options.grid);
    const EndSignals signals;
    return run_job(options.job, grid, signals, -1);
}

int shell(const Options& options) {
    const GridState grid = find_raised(options.grid);
    const EndSignals signals;
    return run_in_host(grid, options.host, options.command, signals);
}

int down(const Options& options) {
    if (options.all == !options.grid.empty())
        throw Error("which grid?", "write laple-grid down ID, or --all");
    const std::vector<GridState> grids = options.all ? living_grids() : std::vector{find_grid(options.grid)};
    for (const GridState& grid : grids) {
        if (is_verbose() && grid.raised) fmt::print(stderr, "{}", read_counters(grid));
        take_down(grid);
        explain(grid.layout.id + " is down");
    }
    return 0;
}

int set(const Options& options) {
    const GridState grid = find_raised(options.grid);
    std::vector<std::string> sites;
    for (const SiteLayout& site : grid.layout.sites) sites.push_back(site.name);
    const auto& [link, what, value] = options.change;
    change_network(grid, parse_change(link, what, value, sites));
    explain(fmt::format("{} {} is {} from now on", link, what, value));
    return 0;
}

void print_table(const std::vector<GridState>& grids) {
    fmt::print("{:<20} {:<16} {:>5} {:>5}  {:<9} {}\n", "id", "scenario", "sites", "hosts", "state", "owner");
    for (const GridState& grid : grids) {
        const std::string owner = grid.standing ? "-" : std::to_string(grid.owner.pid);
        const char* const state = !grid.raised ? "raising" : grid.standing ? "standing" : "running";
        fmt::print("{:<20} {:<16} {:>5} {:>5}  {:<9} {}\n", grid.layout.id, grid.scenario,
                   grid.layout.sites.size(), grid.layout.hosts().size(), state, owner);
    }
}

int list(const Options& options) {
    const std::vector<GridState> grids = living_grids();
    if (!options.json) {
        print_table(grids);
        return 0;
    }
    Json json = Json::array();
    for (const GridState& grid : grids) json.push_back(to_json(grid));
    fmt::print("{}\n", json.dump(2));
    return 0;
}

int doctor() {
    become_root_in_user_namespace();
    bool ok = true;
    for (const Finding& finding : examine_machine()) {
        const char* const mark = finding.ok ? "ok" : finding.required ? "MISSING" : "warning";
        fmt::print("{:<20} {:<8} {}\n", finding.what, mark, finding.detail);
        ok = ok && (finding.ok || !finding.required);
    }
    fmt::print("{}\n", ok ? "This machine can raise grids." : "This machine cannot raise a grid.");
    return ok ? 0 : kExitMachine;
}

void add_job_options(CLI::App& command, Job& job) {
    command.add_option("-n", job.ranks, "Ranks (default: one on each host)")->check(CLI::Range(1, 100000));
    command.add_option("--placement", job.placement,
                       "block (default): ranks fill one host after the other; cyclic: one on each host in "
                       "turn; or a file that names the host of each rank, one a line");
    command.add_option("--one-name", job.host_name,
                       "A name that all hosts take, as containers and cloned machines do");
    command.add_option("--hosts", job.hosts, "Hosts that get ranks, in this order: a-1,b-1 (default: all)")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--mpiexec", job.mpiexec,
                       "The launcher of MPICH, Intel MPI or Open MPI (default: mpiexec.mpich, else "
                       "mpiexec)");
    command.add_option("--env", job.environment, "NAME=value for the ranks only; may be repeated")
        ->allow_extra_args(false);
    command.add_option("--timeout", job.timeout_s, "End the job after so many seconds")
        ->check(CLI::Range(1, 1000000));
}

/// The error of a word that no command has taken.
Error surplus_word(const CLI::App& app) {
    const std::string word = app.remaining(true).front();
    const std::vector<CLI::App*> commands = app.get_subcommands();
    if (commands.empty()) return unknown_option(word, {&app}, "laple-grid --help");
    const std::string command = commands.front()->get_name();
    const std::string help = fmt::format("laple-grid {} --help", command);
    if (word.starts_with('-')) return unknown_option(word, {commands.front(), &app}, help);
    const std::string problem = fmt::format("cannot make sense of \"{}\"", word);
    if (command == "run") return {problem, "a program comes after --: laple-grid run SCENARIO -- PROGRAM"};
    if (command == "exec") return {problem, "a program comes after --: laple-grid exec ID -- PROGRAM"};
    return {problem, "see " + help};
}

/// Declares the command line and returns what the chosen command does.
std::function<int()> parse(CLI::App& app, Options& options, const Arguments& words) {
    std::function<int()> chosen;
    bool takes_command = false;
    bool verbose = false;
    app.require_subcommand(1);
    app.set_version_flag("--version", "laple-grid " + version_text());
    app.add_flag("-v,--verbose", verbose, "Say what is done, and count packets");
    app.fallthrough();
    app.footer(kFooter);
    const auto add = [&](const char* name, const char* text, const std::function<int()>& action,
                         bool with_command) {
        CLI::App* command = app.add_subcommand(name, text);
        command->fallthrough();
        command->callback([&, action, with_command] {
            chosen = action;
            takes_command = with_command;
        });
        return command;
    };
    CLI::App* command = add(
        "run", "Raise a grid, run an MPI program in it, take it down: run SCENARIO -- PROGRAM",
        [&] { return run(options); }, true);
    command->add_option("SCENARIO", options.scenario)->required();
    add_job_options(*command, options.job);
    command = add(
        "check", "Raise a grid and measure it", [&] { return check(options); }, false);
    command->add_option("SCENARIO", options.scenario)->required();
    command = add(
        "up", "Raise a grid, leave it standing and print its id", [&] { return up(options); }, false);
    command->add_option("SCENARIO", options.scenario)->required();
    command = add(
        "exec", "Run an MPI program in a standing grid: exec ID -- PROGRAM", [&] { return exec(options); },
        true);
    command->add_option("ID", options.grid)->required();
    add_job_options(*command, options.job);
    command = add(
        "shell", "Open a shell in a host, or run a command there: shell ID HOST [-- COMMAND]",
        [&] { return shell(options); }, true);
    command->add_option("ID", options.grid)->required();
    command->add_option("HOST", options.host)->required();
    command = add(
        "set",
        "Change the network of a standing grid: set ID SITE:SITE delay|rate|loss VALUE, or SITE uplink",
        [&] { return set(options); }, false);
    command->add_option("ID", options.grid)->required();
    command->add_option("LINK", options.change[0], "north:south, both ways; or north, for its uplink")
        ->required();
    command->add_option("WHAT", options.change[1], "delay, rate, loss or uplink")->required();
    command->add_option("VALUE", options.change[2], "10ms, 25Mbit, 0.1%")->required();
    command = add(
        "down", "Take down a grid", [&] { return down(options); }, false);
    command->add_option("ID", options.grid);
    command->add_flag("--all", options.all, "All grids of this machine");
    command = add(
        "list", "List the grids that are up", [&] { return list(options); }, false);
    command->add_flag("--json", options.json, "As JSON, with every host's name and address");
    add(
        "doctor", "Tell whether this machine can raise a grid", [] { return doctor(); }, false);

    // What follows the first "--" belongs to the program alone.
    const auto split = std::find(words.begin(), words.end(), "--");
    Arguments own(words.begin(), split);
    if (split != words.end()) options.command.assign(split + 1, words.end());
    expect_command(app, own);
    std::reverse(own.begin(), own.end());
    try {
        app.parse(own);
    } catch (const CLI::ExtrasError&) {
        throw surplus_word(app);
    }
    if (!takes_command && split != words.end())
        throw Error("this command takes no program", "leave out the --");
    set_verbose(verbose);
    return chosen;
}

int laple_grid(const Arguments& words) {
    CLI::App app(kDescription, "laple-grid");
    Options options;
    try {
        const auto action = parse(app, options, words);
        living_grids();  // clears what a killed laple-grid has left
        return action();
    } catch (const CLI::ParseError& e) {
        const bool asked = e.get_exit_code() == 0;
        return app.exit(e, std::cout, std::cerr) == 0 && asked ? 0 : kExitBadInput;
    } catch (const Interrupted& e) {
        return kExitSignal + e.signal;
    } catch (const MachineError& e) {
        say(e.what());
        return kExitMachine;
    } catch (const Error& e) {
        say(e.what());
        return kExitBadInput;
    } catch (const std::exception& e) {
        say(e.what());
        return kExitMachine;
    }
}

}  // namespace
}  // namespace laple::grid

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> arguments(argv, argv + argc);
        const std::string& name = arguments.front();
        const bool is_launcher = name.substr(name.rfind('/') + 1) == "launch";  // mpiexec takes us for ssh
        if (is_launcher) return laple::grid::stand_in_for_ssh(arguments);
        return laple::grid::laple_grid({arguments.begin() + 1, arguments.end()});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "laple-grid: %s\n", e.what());
        return 255;  // as ssh does
    }
}
