// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <cmath>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/version.hpp"
#include "command_word.hpp"
#include "mpi/probe/latency_probe.hpp"
#include "topology/survey.hpp"

namespace laple::discover {
namespace {

constexpr int kBadInput = 2;

constexpr auto kHelp =
    R"(Examples:
  mpiexec -hosts a,b,c,d laple-discover > magpie_clusters
  laple-run --topology magpie_clusters mpiexec -hosts a,b,c,d ./application
  mpiexec -hosts a,b,c,d laple-discover --model > model.json
  mpiexec -hosts a,b,c,d laple-discover --format svg > clusters.svg

Measures the latency between the hosts of this job and writes which ranks are near each other, in the format
magpie_clusters; with --model also how fast the links are. Use the hosts and the number of ranks of the job that is
to be made fast. Shows what was found and how far it is on standard error.

Ctrl-C or the end of --budget keeps what is measured: standard output then holds what --resume takes up again, and
the exit code is 3 (after Ctrl-C mpiexec may give one of its own).
)";

const std::map<std::string, Format> kFormats{
    {"text", Format::text}, {"json", Format::json}, {"dot", Format::dot}, {"svg", Format::svg}};

}  // namespace

bool parse(int argc, char** argv, bool talks, Options& options, int& exit_code) {
    CLI::App app(kHelp, "laple-discover");
    options.settle_ms = 1000 * mpi::kSettle.count();
    bool wants_json = false;
    app.add_flag("--model", options.measures_model,
                 "Measure how fast links are too: LAPLE_MODEL takes the JSON that comes out");
    std::string format;
    app.add_option(
           "--format", format,
           "What to write: text (magpie_clusters, the default), json (the default with --model), dot or svg")
        ->check([](const std::string& name) {
            return kFormats.contains(name) ? "" : fmt::format("\"{}\" is none of text, json, dot, svg", name);
        });
    app.add_flag("--json", wants_json, "The same as --format json");
    app.add_option("--budget", options.budget, "Stop measuring after so many seconds")
        ->check(CLI::Range(0.01, 1e6));
    app.add_option("--resume", options.resume,
                   "Take up again what an unfinished run has written; rank 0 reads it");
    app.add_flag("--dry-run", options.is_dry_run,
                 "Measure one round only, and say how many there are and about how long they take");
    app.add_option("--tolerance", options.clustering.tolerance,
                   "By which part latencies may differ and still be called equal")
        ->check(CLI::Range(0.0, 2.0))
        ->capture_default_str();
    app.add_flag(
        "--eco", options.plain_eco,
        "Plain ECO: every difference beyond the tolerance makes a cluster; only where nothing disturbs");
    app.add_option("--settle", options.settle_ms,
                   "Measure a pair until its shortest round trip stayed the shortest for so many "
                   "milliseconds; 0 will do where nothing disturbs, and makes --model short, too")
        ->check(CLI::Range(0.0, 10000.0))
        ->capture_default_str();
    app.add_flag(
        "--all-pairs", options.all_pairs,
        fmt::format("Measure all pairs of nodes; from {} nodes on some are enough, chosen on the way",
                    kManyNodes));
    app.add_flag("-q,--quiet", options.quiet, "Show nothing on standard error but errors");
    app.set_version_flag("--version", "laple-discover " + version_text());
    try {
        app.parse(argc, argv);
        // A range does not keep out what is no number.
        for (const auto& [name, value] :
             {std::pair("--tolerance", options.clustering.tolerance),
              std::pair("--settle", options.settle_ms), std::pair("--budget", options.budget)}) {
            if (std::isnan(value)) throw CLI::ValidationError(name, "is no number");
        }
        if (!format.empty()) options.format = kFormats.at(format);
        if (wants_json || (options.measures_model && format.empty())) options.format = Format::json;
        if (options.measures_model && options.format != Format::json && !options.is_dry_run) {
            throw CLI::ValidationError("--model",
                                       "measures what only json holds; leave out --format, and draw "
                                       "with laple-plot");
        }
        return true;
    } catch (const CLI::ParseError& error) {
        const bool is_request = error.get_exit_code() == 0;  // --help, --version
        exit_code = is_request ? 0 : kBadInput;
        if (talks && is_request) app.exit(error);
        if (talks && !is_request) {
            std::fputs(fmt::format("laple-discover: {}; see laple-discover --help\n", problem_of(app, error))
                           .c_str(),
                       stderr);
        }
        return false;
    }
}

}  // namespace laple::discover
