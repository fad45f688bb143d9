// SPDX-License-Identifier: BSD-3-Clause
//
// laple-info: what LaPle would work with in this job: settings, topology and model, and where each comes
// from.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "base/configuration.hpp"
#include "base/version.hpp"
#include "bug_report.hpp"
#include "command_word.hpp"
#include "in_force.hpp"
#include "model/describe.hpp"
#include "model/model_file.hpp"
#include "mpi/probe/hosts.hpp"
#include "network.hpp"

namespace laple::info {
namespace {

constexpr int kBadInput = 2;

constexpr auto kHelp =
    R"(Examples:
  laple-info                                        settings of this shell
  mpiexec -hosts a,b,c,d laple-info                 and what a job on these hosts would use
  laple-info model.json                             what is in a file
  laple-info --config > laple.conf                  settings to edit, and to put where LaPle finds them
  mpiexec -hosts a,b,c,d laple-info --bug-report report.tar.gz
  mpiexec -hosts a,b,c,d laple-info --json
  mpiexec -hosts a,b,c,d laple-info --network       what keeps TCP slow between them, and the lines to type

Measures nothing, but with --network sends 1 MiB between hosts, to see what becomes of it. Where nothing is known of these hosts yet, a job measures at its first collective (LAPLE_TOPOLOGY).
)";

struct Options {
    std::string file;
    std::string bug_report;
    bool json = false;
    bool network = false;
    bool config = false;
    bool force = false;
};

/// False when the program is to end with `exit_code`. All ranks decide alike; rank 0 alone talks.
bool parse(int argc, char** argv, bool talks, Options& options, int& exit_code) {
    CLI::App app(kHelp, "laple-info");
    app.add_option("file", options.file, "A magpie_clusters or model file to show instead");
    app.add_flag("--json", options.json, "For programs");
    app.add_flag("--network", options.network,
                 "The TCP connections between the hosts, what slows them down, and the lines to type")
        ->excludes("file");
    app.add_flag("--config", options.config,
                 "All settings as a laple.conf, with what each does, its default, and what is in force")
        ->excludes("file", "--json", "--network");
    app.add_option("--bug-report", options.bug_report,
                   "Write what a report of a problem should bring along, a .tar.gz")
        ->type_name("FILE")
        ->check([](const std::string& file) { return std::string(file.empty() ? "name a file" : ""); })
        ->excludes("file", "--json", "--network", "--config");
    app.add_flag("--force", options.force, "Replace that file where it is there already")
        ->needs("--bug-report");
    app.set_version_flag("--version", "laple-info " + version_text());
    try {
        app.parse(argc, argv);
        return true;
    } catch (const CLI::ParseError& error) {
        const bool is_request = error.get_exit_code() == 0;
        exit_code = is_request ? 0 : kBadInput;
        if (talks && is_request) app.exit(error);
        if (talks && !is_request)
            fmt::print(stderr, "laple-info: {}; see laple-info --help\n", problem_of(app, error));
        return false;
    }
}

void say_what_is_misconfigured() {
    for (const std::string& warning : configuration().warnings)
        fmt::print(stderr, "laple-info: {}\n", warning);
}

int show(const Options& options, const std::vector<Node>& hosts, int ranks) {
    if (!options.file.empty()) {
        const Model model = read_model(options.file);
        fmt::print("{}", options.json ? model_text(model) : describe_model(model));
        return 0;
    }
    if (options.config) {
        say_what_is_misconfigured();
        fmt::print("{}", configuration_text(configuration()));
        return 0;
    }
    const InForce used = in_force(configuration().settings, hosts, ranks);
    fmt::print("{}", options.json ? overview_json(used, hosts.size(), ranks)
                                  : overview_text(used, hosts.size(), ranks));
    return used.problem.empty() ? 0 : kBadInput;
}

/// Of the fastest NIC that is known, and where that comes from.
std::pair<double, std::string> rate_of_nics(const InForce& used) {
    constexpr double kUsual = 125e6;
    double rate = 0;
    if (used.model) {
        for (const ClusterModel& cluster : used.model->links.clusters)
            rate = std::max({rate, cluster.nic_out, cluster.nic_in});
    }
    if (rate > 0) return {rate, "the fastest NIC in the model"};
    return {kUsual, "1 Gbit/s, for no rate has been measured"};
}

int show_network(const Options& options, const std::vector<Node>& hosts, const NetworkState& state,
                 int ranks) {
    const InForce used = in_force(configuration().settings, hosts, ranks);
    say_what_is_misconfigured();
    if (!used.problem.empty()) fmt::print(stderr, "laple-info: {}\n", used.problem);
    const auto [rate, source] = rate_of_nics(used);
    fmt::print("{}", options.json ? network_json(state, rate, source) : network_text(state, rate, source));
    return used.problem.empty() ? 0 : kBadInput;
}

int run(int argc, char** argv) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Options options;
    int exit_code = 0;
    if (!parse(argc, argv, rank == 0, options, exit_code)) return exit_code;
    const auto hosts = mpi::gather_hosts(MPI_COMM_WORLD, 0);
    if (hosts && !describe_labels(*hosts).empty())
        fmt::print(stderr, "laple-info: {}\n", describe_labels(*hosts));
    try {
        if (!options.bug_report.empty())
            return report_bug(options.bug_report, options.force, hosts, rank, ranks);
        const auto network = options.network ? look_at_network(rank, ranks) : std::nullopt;
        if (!hosts || (options.network && !network)) return 0;
        return network ? show_network(options, *hosts, *network, ranks) : show(options, *hosts, ranks);
    } catch (const std::exception& error) {
        fmt::print(stderr, "laple-info: {}\n", error.what());
        return kBadInput;
    }
}

}  // namespace
}  // namespace laple::info

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int exit_code = laple::info::run(argc, argv);
    MPI_Finalize();
    return exit_code;
}
