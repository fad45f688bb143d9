// SPDX-License-Identifier: BSD-3-Clause
//
// laple-discover: measures the latency between the nodes of a job and writes which ranks are near each other.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include "mpi/probe/nodes.hpp"
#include "mpi/probe/prober.hpp"
#include "report.hpp"
#include "topology/clustering.hpp"
#include "topology/survey.hpp"

namespace laple::discover {
namespace {

constexpr int kBadInput = 2;

struct Options {
    ClusteringOptions clustering;
    double settle_ms = 1000 * mpi::kSettle.count();
    bool plain_eco = false;
    bool all_pairs = false;
    bool json = false;
    bool quiet = false;
};

constexpr auto kHelp =
    R"(Examples:
  mpiexec -hosts a,b,c,d laple-discover > magpie_clusters
  laple-run --topology magpie_clusters mpiexec -hosts a,b,c,d ./application
  mpiexec -hosts a,b,c,d laple-discover --json > model.json

Measures the latency between the hosts of this job and writes which ranks are near each other, in the format
magpie_clusters. Use the hosts and the number of ranks of the job that is to be made fast.
Shows the latencies and how far it is on standard error.
)";

void print(std::FILE* file, const std::string& text) {
    std::fputs(text.c_str(), file);
    std::fflush(file);
}

/// Reads the options; false when the program is to end with `exit_code`. All ranks see the same command line,
/// so all decide alike, and rank 0 alone talks.
bool parse(int argc, char** argv, bool talks, Options& options, int& exit_code) {
    CLI::App app(kHelp, "laple-discover");
    app.add_option("--tolerance", options.clustering.tolerance,
                   "By which part latencies may differ and still be called equal")
        ->check(CLI::Range(0.0, 2.0))
        ->capture_default_str();
    app.add_flag(
        "--eco", options.plain_eco,
        "Plain ECO: every difference beyond the tolerance makes a cluster; only where nothing disturbs");
    app.add_option("--settle", options.settle_ms,
                   "Measure a pair until its shortest round trip stayed the shortest for so many "
                   "milliseconds; 0 will "
                   "do where nothing disturbs")
        ->check(CLI::Range(0.0, 10000.0))
        ->capture_default_str();
    app.add_flag(
        "--all-pairs", options.all_pairs,
        fmt::format("Measure all pairs of nodes; from {} nodes on some are enough, chosen on the way",
                    kManyNodes));
    app.add_flag("--json", options.json,
                 "Write JSON instead: latencies, and groups of clusters too. LAPLE_TOPOLOGY takes either");
    app.add_flag("-q,--quiet", options.quiet, "Show nothing on standard error but errors");
    app.set_version_flag("--version", "laple-discover " LAPLE_VERSION);
    try {
        app.parse(argc, argv);
        return true;
    } catch (const CLI::ParseError& error) {
        const bool is_request = error.get_exit_code() == 0;  // --help, --version
        exit_code = is_request ? 0 : kBadInput;
        if (talks && is_request) app.exit(error);
        if (talks && !is_request) {
            print(stderr, fmt::format("laple-discover: {}; see laple-discover --help\n", error.what()));
        }
        return false;
    }
}

/// One changing line on a terminal; elsewhere a line for each tenth.
void show_progress(int done, int pairs) {
    if (isatty(STDERR_FILENO) != 0) {
        print(stderr, fmt::format("\rmeasuring: {} of {}{}", done, pairs, done == pairs ? "\n" : ""));
    } else if (done * 10 / pairs > (done - 1) * 10 / pairs) {
        print(stderr, fmt::format("measuring: {} %\n", done * 100 / pairs));
    }
}

/// Plain ECO looks at every pair, so it needs them all.
std::unique_ptr<Survey> make_survey(const std::vector<Node>& nodes, const Options& options) {
    const int count = static_cast<int>(nodes.size());
    if (count < kManyNodes || options.all_pairs || options.plain_eco) {
        return survey_all_pairs(count, options.plain_eco ? Clustering::plain_eco : Clustering::sites,
                                options.clustering);
    }
    return survey_by_landmarks(by_name(nodes), options.clustering);
}

std::string now_in_utc() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
}

void discover(const Options& options) {
    mpi::NodeLayout layout(MPI_COMM_WORLD);
    const bool leads = !layout.nodes().empty();  // rank 0
    const std::unique_ptr<Survey> survey = leads ? make_survey(layout.nodes(), options) : nullptr;
    if (layout.probes() != MPI_COMM_NULL) {
        mpi::measure_latencies(layout.probes(), Seconds(options.settle_ms / 1000), survey.get(),
                               options.quiet ? mpi::Progress() : mpi::Progress(show_progress));
    }
    layout.rest_until_measured();
    if (!leads) return;

    Discovery found;
    found.date = now_in_utc();
    found.tolerance = options.clustering.tolerance;
    found.nodes = layout.nodes();
    found.findings = survey->findings();
    found.levels = cluster_levels(found.findings.between, found.findings.clusters, options.clustering);
    if (!options.quiet) print(stderr, summary_text(found));
    print(stdout, options.json ? json_text(found) : magpie_text(found));
}

int run(int argc, char** argv) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Options options;
    int exit_code = 0;
    if (!parse(argc, argv, rank == 0, options, exit_code)) return exit_code;
    try {
        discover(options);
    } catch (const std::exception& error) {
        // The other ranks wait for this one, so there is no way to end in good order.
        print(stderr, fmt::format("laple-discover: rank {}: {}\n", rank, error.what()));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return 0;
}

}  // namespace
}  // namespace laple::discover

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int exit_code = laple::discover::run(argc, argv);
    MPI_Finalize();
    return exit_code;
}
