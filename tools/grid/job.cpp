// SPDX-License-Identifier: BSD-3-Clause
#include "grid/job.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grid/machine_error.hpp"
#include "grid/netns.hpp"

namespace laple::grid {
namespace {

constexpr int kGraceMs = 2000;
constexpr const char* kLauncher = "launch";
constexpr const char* kNic = "veth0";
constexpr const char* kHostNameVariable = "GRID_HOST_NAME";  // of hosts that all have one name

std::map<std::string, std::string> rank_environment(const Job& job) {
    // All bytes cross the emulated network; none takes a short cut through this machine's memory. Ranks
    // share cores: those of other libraries than UCX are to yield them, too.
    std::map<std::string, std::string> variables{{"UCX_TLS", "tcp,self"},
                                                 {"UCX_NET_DEVICES", kNic},
                                                 {"I_MPI_FABRICS", "ofi"},
                                                 {"FI_PROVIDER", "tcp"},
                                                 {"FI_TCP_IFACE", kNic},
                                                 {"OMPI_MCA_btl", "tcp,self"},
                                                 {"OMPI_MCA_btl_tcp_if_include", kNic},
                                                 {"OMPI_MCA_mpi_yield_when_idle", "1"}};
    if (const char* inherited = getenv("LD_PRELOAD")) variables["LD_PRELOAD"] = inherited;
    for (const std::string& assignment : job.environment) {
        const auto split = assignment.find('=');
        variables[assignment.substr(0, split)] = assignment.substr(split + 1);
    }
    if (const std::string yield = yield_library(); !yield.empty()) {
        std::string& preload = variables["LD_PRELOAD"];
        preload += (preload.empty() ? "" : ":") + yield;
    }
    return variables;
}

void make_launcher(const GridState& grid) {
    // A link, not a script: /run is often mounted without the right to execute.
    const std::string link = grid.directory() + "/" + kLauncher;
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (symlink(self.c_str(), link.c_str()) != 0 && errno != EEXIST) {
        throw MachineError(fmt::format("cannot make {}: {}", link, errno_text()), advice_after(errno));
    }
}

/// Waits for the child; passes signals on; ends it at the timeout.
int supervise(Child child, const EndSignals& signals, int keeper_fd, int timeout_s) {
    const int event =
        wait_readable({child.pidfd(), signals.fd(), keeper_fd}, timeout_s > 0 ? timeout_s * 1000 : -1);
    if (event == 0) return child.wait();
    int status = kExitTimeout;
    if (event < 0) {
        say(fmt::format("the job has not ended within {} s (--timeout): ending it", timeout_s));
        child.signal(SIGTERM);
    } else if (event == 1) {
        const auto received = signals.next();
        const int number = received ? received->number : SIGTERM;
        status = kExitSignal + number;
        // Ctrl-C at the terminal has reached the job already, and a second one means "at once" to mpiexec.
        if (!received || !received->from_terminal) child.signal(SIGTERM);
    } else {
        say("the process that keeps the grid has died, and the grid with it: ending the job. It may have "
            "been killed for lack of memory: see dmesg");
        status = kExitMachine;
    }
    if (wait_readable({child.pidfd(), signals.fd()}, kGraceMs) != 0) child.signal(SIGKILL);
    child.wait();
    return status;
}

Maker maker_of(const std::string& mpiexec) {
    const std::string version = run_command({mpiexec, "--version"}, "").output;
    const auto says = [&](const char* name) { return version.find(name) != std::string::npos; };
    return says("Open MPI") ? Maker::open_mpi : says("Intel") ? Maker::intel : Maker::mpich;
}

/// Its own, or what the laple-grid that runs the job has left in the environment.
std::string name_in_job(const HostLayout& host) {
    const char* name = getenv(kHostNameVariable);
    return name != nullptr ? name : host.name;
}

/// The runs as "ADDRESS:RANKS", in their order.
Arguments places_of(const std::vector<RankRun>& runs, const std::vector<HostLayout>& hosts) {
    Arguments places;
    for (const RankRun& run : runs)
        places.push_back(fmt::format("{}:{}", hosts[static_cast<std::size_t>(run.host)].address, run.ranks));
    return places;
}

/// Each host once, with all its ranks: Open MPI's launcher puts them there in blocks or in turn.
std::vector<RankRun> gathered(const std::vector<RankRun>& runs) {
    std::vector<RankRun> hosts;
    for (const RankRun& run : runs) {
        const auto found = std::find_if(hosts.begin(), hosts.end(),
                                        [&](const RankRun& other) { return other.host == run.host; });
        if (found == hosts.end()) {
            hosts.push_back(run);
        } else {
            found->ranks += run.ranks;
        }
    }
    return hosts;
}

/// MPICH's, and Intel MPI's: Hydra. Intel's does not look at the counts that stand with hosts, but at this
/// one.
Arguments hydra_command(const Job& job, const std::string& launcher, const std::string& first,
                        const Arguments& places, int most_per_host) {
    Arguments command{job.mpiexec,
                      "-launcher",
                      "ssh",
                      "-launcher-exec",
                      launcher,
                      "-localhost",
                      first,
                      "-hosts",
                      fmt::format("{}", fmt::join(places, ","))};
    if (job.maker == Maker::intel) command.insert(command.end(), {"-ppn", std::to_string(most_per_host)});
    for (const auto& [name, value] : rank_environment(job))
        command.insert(command.end(), {"-genv", name, value});
    return command;
}

/// Open MPI's: PRRTE, which starts a daemon on each host, itself on the first.
Arguments prrte_command(const Job& job, const std::string& launcher, const Arguments& places,
                        bool is_cyclic) {
    Arguments command{job.mpiexec,
                      "--allow-run-as-root",
                      "--prtemca",
                      "plm_ssh_agent",
                      launcher,
                      "--prtemca",
                      "plm_ssh_no_tree_spawn",
                      "1",
                      "--prtemca",
                      "prte_if_include",
                      kNic,
                      "--map-by",
                      is_cyclic ? "node" : "slot",
                      "--bind-to",
                      "none",
                      "--host",
                      fmt::format("{}", fmt::join(places, ","))};
    for (const auto& [name, value] : rank_environment(job))
        command.insert(command.end(), {"-x", fmt::format("{}={}", name, value)});
    return command;
}

const HostLayout* find_address(const std::vector<HostLayout>& hosts, const std::string& address) {
    const auto found =
        std::find_if(hosts.begin(), hosts.end(), [&](const HostLayout& h) { return h.address == address; });
    return found == hosts.end() ? nullptr : &*found;
}

Arguments names_of(const std::vector<HostLayout>& hosts) {
    Arguments names;
    for (const HostLayout& host : hosts) names.push_back(host.name);
    return names;
}

Error no_such_host(const std::string& grid, const std::string& host, const Arguments& names) {
    const std::string near = nearest_name(host, names);
    return {fmt::format("grid {} has no host \"{}\"", grid, host),
            near.empty() ? fmt::format("it has: {}", fmt::join(names, ", "))
                         : fmt::format("did you mean {}?", near)};
}

}  // namespace

void check_job(Job& job) {
    for (const std::string& assignment : job.environment) {
        if (assignment.find('=') == std::string::npos || assignment.front() == '=') {
            throw Error(fmt::format("--env {}: no variable is set", quote(assignment)),
                        "write --env NAME=value");
        }
    }
    if (job.program.empty()) throw Error("no program to run", "add -- PROGRAM ARGUMENTS...");
    const std::string wanted = job.mpiexec;
    for (const std::string& name :
         wanted.empty() ? Arguments{"mpiexec.mpich", "mpiexec"} : Arguments{wanted}) {
        job.mpiexec = find_program(name);
        if (job.mpiexec.empty()) continue;
        job.maker = maker_of(job.mpiexec);
        return;
    }
    throw Error(
        wanted.empty() ? std::string("there is no mpiexec") : fmt::format("there is no program {}", wanted),
        "install MPICH, or name the launcher with --mpiexec PATH");
}

std::vector<HostLayout> hosts_of_job(const Job& job, const GridLayout& layout) {
    const std::vector<HostLayout> all = layout.hosts();
    if (job.hosts.empty()) return all;
    std::vector<HostLayout> chosen;
    for (const std::string& name : job.hosts) {
        const auto is_it = [&](const HostLayout& h) { return h.name == name; };
        const auto found = std::find_if(all.begin(), all.end(), is_it);
        if (found == all.end()) throw no_such_host(layout.id, name, names_of(all));
        if (std::any_of(chosen.begin(), chosen.end(), is_it))
            throw Error(fmt::format("--hosts names {} twice", name), "use -n for more ranks on each host");
        chosen.push_back(*found);
    }
    return chosen;
}

std::vector<RankRun> runs_of_job(const Job& job, const std::vector<HostLayout>& hosts) {
    const Placement placement = Placement::parse(job.placement);
    if (placement.is_listed() && job.maker != Maker::mpich)
        throw Error(fmt::format("--placement {} is for MPICH's launcher", job.placement),
                    "place in blocks or cyclic with this one");
    const int ranks = placement.ranks(job.ranks, static_cast<int>(hosts.size()));
    return placement.runs(ranks, names_of(hosts));
}

Arguments mpiexec_command(const Job& job, const GridState& grid) {
    const std::vector<HostLayout> hosts = hosts_of_job(job, grid.layout);
    std::vector<RankRun> runs = runs_of_job(job, hosts);
    int ranks = 0;
    for (const RankRun& run : runs) ranks += run.ranks;
    const bool is_cyclic = Placement::parse(job.placement).is_cyclic();
    const std::string launcher = grid.directory() + "/" + kLauncher;
    Arguments command;
    if (job.maker == Maker::open_mpi) {
        command = prrte_command(job, launcher, places_of(gathered(runs), hosts), is_cyclic);
    } else {
        // Where there are more ranks than places, Hydra begins with the first host again.
        if (is_cyclic) runs.resize(std::min(runs.size(), hosts.size()));
        command =
            hydra_command(job, launcher, hosts.front().address, places_of(runs, hosts), runs.front().ranks);
    }
    command.insert(command.end(), {"-n", std::to_string(ranks)});
    command.insert(command.end(), job.program.begin(), job.program.end());
    return command;
}

int run_job(const Job& job, const GridState& grid, const EndSignals& signals, int keeper_fd) {
    make_launcher(grid);
    if (yield_library().empty()) {
        say("liblaple_yield.so is not installed: ranks that wait will keep the processor from those they "
            "wait for");
    }
    const HostLayout first = hosts_of_job(job, grid.layout).front();
    const Arguments command = mpiexec_command(job, grid);
    explain("in " + first.netns + ": " + quote(command));
    Child mpiexec = fork_child(
        [&] {
            if (!job.host_name.empty()) setenv(kHostNameVariable, job.host_name.c_str(), 1);
            become_host(first.netns, name_in_job(first), grid.hosts_file());
            unsetenv("HYDRA_LAUNCHER_EXTRA_ARGS");  // those are for a real ssh
            execute(command);
            say(fmt::format("cannot run {}: {}", command[0], errno_text()));
            return 127;
        },
        SIGTERM);
    return supervise(std::move(mpiexec), signals, keeper_fd, job.timeout_s);
}

int run_in_host(const GridState& grid, const std::string& host, const Arguments& command,
                const EndSignals& signals) {
    Arguments names;
    std::string name;
    std::string netns;
    const auto consider = [&](const auto& place) {
        names.push_back(place.name);
        if (place.name != host && place.address != host) return;
        name = place.name;
        netns = place.netns;
    };
    for (const SiteLayout& site : grid.layout.sites) {
        consider(site);
        for (const HostLayout& h : site.hosts) consider(h);
    }
    if (netns.empty()) throw no_such_host(grid.layout.id, host, names);
    const char* shell = getenv("SHELL");
    const Arguments words = !command.empty() ? command : Arguments{shell != nullptr ? shell : "/bin/sh"};
    Child child = fork_child(
        [&] {
            become_host(netns, name, grid.hosts_file());
            execute(words);
            say(fmt::format("cannot run {}: {}", words[0], errno_text()));
            return 127;
        },
        SIGHUP);
    // An interactive program deals with Ctrl-C itself, and a shell outlives it: wait on.
    for (;;) {
        if (wait_readable({child.pidfd(), signals.fd()}, -1) == 0) return child.wait();
        const auto received = signals.next();
        if (received && !received->from_terminal) child.signal(received->number);
    }
}

int stand_in_for_ssh(const Arguments& arguments) {
    const std::filesystem::path link = arguments.front();
    const GridState grid = load_grid(link.parent_path().filename());
    std::size_t word = 1;
    while (word < arguments.size() && arguments[word].rfind('-', 0) == 0) ++word;
    const std::vector<HostLayout> hosts = grid.layout.hosts();
    const HostLayout* host = word < arguments.size() ? find_address(hosts, arguments[word]) : nullptr;
    if (host == nullptr)
        throw Error("launch: " + quote(arguments) + " names no host", "this is for mpiexec only");
    // Like ssh: the words are joined by blanks, and a shell at the other end takes them apart.
    const std::string command =
        fmt::format("{}", fmt::join(arguments.begin() + static_cast<long>(word) + 1, arguments.end(), " "));
    become_host(host->netns, name_in_job(*host), grid.hosts_file());
    return execute({"/bin/sh", "-c", command});
}

std::string yield_library() {
    for (const char* place : {"../lib", LAPLE_GRID_LIBDIR "/laple", LAPLE_GRID_LIBDIR}) {
        std::error_code error;
        const auto file = std::filesystem::canonical(
            std::filesystem::path(program_directory()) / place / "liblaple_yield.so", error);
        if (!error) return file;
    }
    return "";
}

}  // namespace laple::grid
