// SPDX-License-Identifier: BSD-3-Clause
//
// laple-info: what LaPle would work with in this job: settings, topology and model, and where each comes
// from.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/options.hpp"
#include "base/version.hpp"
#include "model/cache.hpp"
#include "model/describe.hpp"
#include "model/model_file.hpp"
#include "mpi/probe/hosts.hpp"
#include "mpi/probe/provenance.hpp"
#include "network.hpp"

namespace laple::info {
namespace {

constexpr int kBadInput = 2;

constexpr auto kHelp =
    R"(Examples:
  laple-info                                        settings of this shell
  mpiexec -hosts a,b,c,d laple-info                 and what a job on these hosts would use
  laple-info model.json                             what is in a file
  mpiexec -hosts a,b,c,d laple-info --json
  mpiexec -hosts a,b,c,d laple-info --network       what keeps TCP slow between them, and the lines to type

Measures nothing, but with --network sends 1 MiB between hosts, to see what becomes of it. Where nothing is known of these hosts yet, a job measures at its first collective (LAPLE_TOPOLOGY).
)";

/// What a job on these hosts would use, and where it comes from.
struct InForce {
    std::string source;
    std::optional<Model> model;
    std::string problem;
};

Model read_model(const std::string& file) {
    return parse_model_file(read_file(file), file);
}

InForce from_file(const Settings& settings, const std::vector<Node>& hosts, int ranks) {
    const std::string& file = settings.topology_file();
    InForce result{
        fmt::format("{}={}", settings.topology.empty() ? "LAPLE_MODEL" : "LAPLE_TOPOLOGY", file), {}, ""};
    if (settings.has_rates_file()) result.source += fmt::format(", rates: LAPLE_MODEL={}", settings.model);
    try {
        Model model = read_model(file);
        // A shell is no job: there the file is shown as it is.
        if (ranks > 1) {
            std::vector<Rank> in_world(static_cast<std::size_t>(ranks));
            std::iota(in_world.begin(), in_world.end(), 0);
            model = model_for(model, hosts, in_world, ranks, file);
            if (settings.has_rates_file()) {
                const Model rates = read_model(settings.model);
                model = with_rates(model, model_for(rates, hosts, in_world, ranks, settings.model));
            }
            if (model.nodes.empty()) model.nodes = hosts;  // a map names no hosts: the job knows its own
        }
        result.model = std::move(model);
    } catch (const Error& error) {
        result.problem = error.what();
    }
    return result;
}

InForce in_force(const Settings& settings, const std::vector<Node>& hosts, int ranks) {
    if (settings.is_disabled) return {"LAPLE_DISABLE is set: every call is MPI's own", {}, ""};
    if (settings.is_topology_off()) return {"LAPLE_TOPOLOGY=off: every call is MPI's own", {}, ""};
    if (settings.has_topology_file()) return from_file(settings, hosts, ranks);
    if (ranks < 2) return {"auto: one rank, every call is MPI's own", {}, ""};
    InForce result;
    const ModelCache cache(ModelCache::default_directory());
    auto found = cache.find(hosts, mpi::mpi_version(), result.problem);
    if (found) result.model = std::move(found->model);
    result.source = found ? fmt::format("auto: kept in {}", found->file)
                    : settings.probe_budget <= 0
                        ? "auto: nothing kept, and LAPLE_PROBE_BUDGET is 0: every call is MPI's own"
                        : fmt::format(
                              "auto: measured at the first collective, within {} s; rates in half as long "
                              "again, and so MPI's own collectives",
                              settings.probe_budget);
    return result;
}

const char* value_of(const SettingRow& row) {
    const char* value = std::getenv(std::string(row.name).c_str());
    return value != nullptr && value[0] != '\0' ? value : nullptr;
}

void print_text(const InForce& used, const std::vector<std::string>& warnings, std::size_t hosts, int ranks) {
    fmt::print("LaPle {}, built for {}, running on {}\n\n", LAPLE_VERSION, LAPLE_BUILT_WITH_MPI,
               mpi::mpi_version());
    for (const SettingRow& row : all_settings()) {
        const char* value = value_of(row);
        fmt::print("{:<20} {:<20} {}\n", row.name,
                   value != nullptr       ? value
                   : row.fallback.empty() ? "(none)"
                                          : std::string(row.fallback),
                   value != nullptr ? "environment" : "default");
    }
    for (const std::string& warning : warnings) fmt::print("warning: {}\n", warning);
    fmt::print("\n{} {} on {} {}\n", ranks, ranks == 1 ? "rank" : "ranks", hosts,
               hosts == 1 ? "host" : "hosts");
    fmt::print("topology: {}\n", used.source);
    if (!used.problem.empty()) fmt::print("problem: {}\n", used.problem);
    if (!used.model) return;
    if (!used.model->date.empty())
        fmt::print("measured: {} by LaPle {} with {}\n", used.model->date, used.model->version,
                   used.model->mpi);
    fmt::print("{}", describe_model(*used.model));
}

void print_json(const InForce& used, const std::vector<std::string>& warnings, std::size_t hosts, int ranks) {
    Json document{
        {"version", LAPLE_VERSION}, {"built_for", LAPLE_BUILT_WITH_MPI}, {"mpi", mpi::mpi_version()}};
    for (const SettingRow& row : all_settings()) {
        const char* value = value_of(row);
        document["settings"].push_back({{"name", row.name},
                                        {"value", value != nullptr ? value : std::string(row.fallback)},
                                        {"from", value != nullptr ? "environment" : "default"}});
    }
    document["warnings"] = warnings;
    document["ranks"] = ranks;
    document["hosts"] = hosts;
    document["topology_from"] = used.source;
    if (!used.problem.empty()) document["problem"] = used.problem;
    if (used.model) document["model"] = Json::parse(model_text(*used.model));
    fmt::print("{}\n", document.dump(2));
}

struct Options {
    std::string file;
    bool json = false;
    bool network = false;
};

/// False when the program is to end with `exit_code`. All ranks decide alike; rank 0 alone talks.
bool parse(int argc, char** argv, bool talks, Options& options, int& exit_code) {
    CLI::App app(kHelp, "laple-info");
    app.add_option("file", options.file, "A magpie_clusters or model file to show instead");
    app.add_flag("--json", options.json, "For programs");
    app.add_flag("--network", options.network,
                 "The TCP connections between the hosts, what slows them down, and the lines to type")
        ->excludes("file");
    app.set_version_flag("--version", "laple-info " + version_text());
    try {
        app.parse(argc, argv);
        return true;
    } catch (const CLI::ParseError& error) {
        const bool is_request = error.get_exit_code() == 0;
        exit_code = is_request ? 0 : kBadInput;
        if (talks && is_request) app.exit(error);
        if (talks && !is_request) fmt::print(stderr, "laple-info: {}; see laple-info --help\n", error.what());
        return false;
    }
}

int show(const Options& options, const std::vector<Node>& hosts, int ranks) {
    if (!options.file.empty()) {
        const Model model = read_model(options.file);
        fmt::print("{}", options.json ? model_text(model) : describe_model(model));
        return 0;
    }
    std::vector<std::string> warnings;
    const Settings settings = read_settings(laple_environment(), warnings);
    const InForce used = in_force(settings, hosts, ranks);
    options.json ? print_json(used, warnings, hosts.size(), ranks)
                 : print_text(used, warnings, hosts.size(), ranks);
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
    std::vector<std::string> warnings;
    const Settings settings = read_settings(laple_environment(), warnings);
    const InForce used = in_force(settings, hosts, ranks);
    for (const std::string& warning : warnings) fmt::print(stderr, "laple-info: {}\n", warning);
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
