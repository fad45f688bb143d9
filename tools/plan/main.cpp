// SPDX-License-Identifier: BSD-3-Clause
//
// laple-plan: how LaPle would do a collective, and why. Needs no MPI and no machine: a model file, or a
// description of a network, will do.

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "algorithms.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/options.hpp"
#include "base/version.hpp"
#include "block_table.hpp"
#include "collectives/simulation/simulated_plan.hpp"
#include "command_word.hpp"
#include "compare.hpp"
#include "explain.hpp"
#include "explain_blocks.hpp"
#include "kept_models.hpp"
#include "model/model_file.hpp"
#include "monte_carlo.hpp"
#include "timeline.hpp"
#include "yardstick.hpp"

namespace laple::plan {
namespace {

constexpr int kBadInput = 2;

constexpr auto kHelp =
    R"(Examples:
  laple-plan explain bcast 1M --root 3 --model model.json
  laple-plan explain allreduce 64K --synthetic "site:6:25ms:100Mbit node:16:50us:1Gbit"
  laple-plan explain allreduce 64K --synthetic "site:6:25ms:100Mbit node:2:50us:1Gbit rank:8"
  laple-plan explain alltoallv --counts bytes.txt --model model.json
  laple-plan explain bcast 1M --model model.json --format svg > bcast.svg
  laple-plan compare --model model.json
  laple-plan algorithms bcast
  laple-plan simulate --clusters 4,6,10 --runs 1000

A model is what "mpiexec ... laple-discover --model" writes.
)";

struct Options {
    std::string model;
    std::string synthetic;
    std::string topology;
    std::string placement = "block";
    std::string ports = "shared";
    std::string format = "text";
    std::string collective;
    std::string size;
    std::string counts;
    std::string algorithm;
    std::string streams = "auto";
    int root = 0;
    int rows = 12;
    std::vector<std::string> sizes{"8", "1K", "8K", "64K", "512K", "1M", "8M"};
    std::vector<Rank> roots{0};
    std::string simulate_up_to = "8M";
    MonteCarloOptions monte_carlo;
    bool overlap = false;
};

/// A map says who is near whom, and nothing of how fast links are.
[[noreturn]] void refuse_map(const std::string& file) {
    const int ranks = parse_model_file(read_file(file), file).topology.size();
    const std::string kept = kept_models(ranks);
    throw Error(
        fmt::format("--topology {}: a map has no rates, by which plans are made", file),
        "use a model, which has a map of its own: mpiexec ... laple-discover --model > model.json" + kept);
}

/// As LAPLE_STREAMS.
int streams_named(const std::string& text) {
    Settings settings;
    std::string problem;
    if (!apply_setting("LAPLE_STREAMS", text, settings, problem))
        throw Error("--streams " + text + " is not understood",
                    fmt::format("use auto, off, or a number from 1 to {}", Settings::kMostStreams));
    return settings.streams;
}

Situation situation_of(const Options& options) {
    if (!options.topology.empty()) refuse_map(options.topology);
    if (options.model.empty() == options.synthetic.empty()) {
        const bool is_none = options.model.empty();
        throw Error(is_none ? "no network is given" : "two networks are given",
                    "use --model FILE or --synthetic \"site:6 node:16\"" +
                        (is_none ? kept_models(0) : std::string()));
    }
    if (!options.model.empty() && options.placement != "block") {
        throw Error("--placement is for --synthetic: a model's \"hosts\" say where its ranks are",
                    "leave it out, or change the model");
    }
    Situation situation =
        options.model.empty()
            ? synthetic_situation(options.synthetic,
                                  options.placement == "block" ? RankOrder::block : RankOrder::cyclic)
            : situation_of_file(options.model);
    // Memory is no port.
    if (options.ports != "shared") situation.costs.shares_ports = false;
    situation.costs.use_streams(streams_named(options.streams));
    return situation;
}

/// Only a barrier has none.
void expect_size(Options& options) {
    const auto collective = collective_named(options.collective);
    if (options.size.empty() && collective && row_of(*collective).has_data)
        throw Error("the size of the message is missing",
                    fmt::format("write for example: {} 64K", options.collective));
    if (options.size.empty()) options.size = "0";
}

bool has_wishes(const Rules& rules) {
    return std::any_of(rules.rules.begin(), rules.rules.end(),
                       [](const Rule& rule) { return !rule.is_forbidden; });
}

bool is_as_wanted(const Explanation& explanation, const Rules& rules) {
    const Request& request = explanation.request;
    const auto wanted = rules.wanted(request.collective, request.bytes());
    return std::any_of(wanted.begin(), wanted.end(), [&](const AlgorithmPtr& algorithm) {
        return algorithm->name() == explanation.plan.algorithm->name();
    });
}

/// Of a call that has a count for each rank. No rank knows those of a personalized collective: it is planned
/// without them.
void run_explain_blocks(const Options& options, const Situation& situation, const BlockTable& table,
                        Collective collective) {
    const BlockExplanation explanation = explain_blocks(options.collective, collective, table, options.root,
                                                        situation, parse_rules(options.algorithm));
    if (options.format != "text" && options.format != "json")
        throw Error(fmt::format("there is no {} of blocks of different sizes", options.format),
                    "use --format text or json");
    fmt::print("{}",
               options.format == "json" ? json_of(explanation, situation) : text_of(explanation, situation));
}

/// The table of --counts, where it is given.
std::optional<BlockTable> counts_of(const Options& options, int ranks) {
    const auto collective = collective_with_counts(options.collective);
    if (options.counts.empty()) {
        if (collective && !collective_named(options.collective))
            throw Error(fmt::format("{} has a count for each rank", options.collective),
                        "give --counts FILE with the bytes of each block");
        return std::nullopt;
    }
    if (!collective)
        throw Error(fmt::format("{} has no count for each rank", options.collective),
                    "--counts is for allgatherv, gatherv, scatterv, alltoallv, alltoallw and reduce_scatter");
    if (!options.size.empty()) throw Error("both a size and --counts are given", "leave one of the two out");
    return parse_block_table(read_file(options.counts), options.counts, *collective, ranks);
}

void run_explain(Options& options) {
    const Situation situation = situation_of(options);
    const int ranks = situation.machine.rank_count();
    const auto table = counts_of(options, ranks);
    if (!table) expect_size(options);
    const Bytes bytes =
        table ? *std::max_element(table->bytes.begin(), table->bytes.end()) : parse_bytes(options.size);
    const std::string collective(table ? name_of(*collective_with_counts(options.collective))
                                       : options.collective);
    Request request = request_named(collective, bytes, options.root, ranks);
    if (table && row_of(request.collective).is_personalized)
        return run_explain_blocks(options, situation, *table, request.collective);
    if (table) add_counts(*table, request);
    const Rules rules = parse_rules(options.algorithm);
    Explanation explanation = explain(request, situation, rules);
    if (table) explanation.function = options.collective;
    if (has_wishes(rules) && !is_as_wanted(explanation, rules)) {
        const std::string& why = explanation.plan.passed_over;
        fmt::print(stderr, "laple-plan: {}; see the choice without it\n",
                   why.empty() ? options.algorithm + " cannot be used for this call" : why);
    }
    const auto title = [&] {
        return fmt::format("{} {} bytes, {}: predicted {}, simulated", options.collective,
                           table ? "of different" : options.size, explanation.plan.name(),
                           format_seconds(explanation.plan.predicted));
    };
    if (options.format == "json") {
        fmt::print("{}", json_of(explanation, situation));
    } else if (options.format == "dot") {
        fmt::print("{}", dot_of(explanation, situation));
    } else if (options.format == "trace") {
        fmt::print("{}", trace_of(simulated_messages(explanation.plan, situation.machine, situation.costs),
                                  situation.machine, situation.host_names));
    } else if (options.format == "svg") {
        fmt::print("{}", svg_of(simulated_messages(explanation.plan, situation.machine, situation.costs),
                                situation.machine, situation.host_names, title()));
    } else {
        fmt::print("{}", text_of(explanation, situation, options.rows));
    }
}

void run_compare(const Options& options) {
    const Situation situation = situation_of(options);
    std::vector<Bytes> sizes;
    for (const std::string& size : options.sizes) sizes.push_back(parse_bytes(size));
    fmt::print("{}", comparison(situation, sizes, options.root, options.format == "json"));
}

void run_algorithms(const Options& options) {
    fmt::print("{}", options.format == "json" ? algorithms_json(options.collective)
                                              : algorithms_text(options.collective));
}

void run_yardstick(const Options& options) {
    YardstickOptions yardstick_options{{}, options.roots, parse_bytes(options.simulate_up_to)};
    for (const std::string& size : options.sizes) yardstick_options.sizes.push_back(parse_bytes(size));
    const Situation situation = situation_of(options);
    for (const Rank root : options.roots) {
        if (root < 0 || root >= situation.machine.rank_count())
            throw Error(fmt::format("there is no rank {}", root),
                        fmt::format("use 0 to {}", situation.machine.rank_count() - 1));
    }
    fmt::print("{}", yardstick(situation, yardstick_options));
}

void run_simulate(Options& options) {
    if (options.overlap) options.monte_carlo.phase = LocalPhase::at_once;
    const auto rows = monte_carlo(options.monte_carlo);
    fmt::print("{}", options.format == "json" ? json_of(rows, options.monte_carlo)
                                              : text_of(rows, options.monte_carlo));
}

void add_network(CLI::App* command, Options& options) {
    command->add_option("--model", options.model, "What laple-discover --model has written");
    command->add_option("--streams", options.streams,
                        "As LAPLE_STREAMS: auto, off, or how many connections between two hosts");
    command->add_option("--topology", options.topology)->group("");  // as laple-run has it: for an answer
    command->add_option(
        "--synthetic", options.synthetic,
        "LEVEL:COUNT[:LATENCY[:RATE]] ..., outermost first: \"site:6:25ms:100Mbit node:16:50us:1Gbit\"; "
        "latencies are one way, rates those of one connection; a last level rank:8 puts eight ranks on each "
        "host, and its latency and rate are those of memory");
    command
        ->add_option("--placement", options.placement,
                     "With rank:COUNT: consecutive ranks share a host, or they are dealt round all hosts")
        ->check(CLI::IsMember({"block", "cyclic"}));
    command
        ->add_option("--ports", options.ports,
                     "What a rank sends at once shares its NIC, as over TCP, or queues for it")
        ->check(CLI::IsMember({"shared", "queued"}));
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app(kHelp, "laple-plan");
    app.set_version_flag("--version", "laple-plan " + version_text());
    app.require_subcommand(1);

    CLI::App* explain = app.add_subcommand("explain", "One call: the choice, and why not the others");
    explain
        ->add_option(
            "collective", options.collective,
            collective_names() + "; with --counts also allgatherv, gatherv, scatterv, alltoallv, alltoallw")
        ->required();
    explain->add_option("size", options.size, "Bytes: 8, 64K, 1M");
    explain->add_option(
        "--counts", options.counts,
        "File with the bytes of each rank's block; of an all-to-all a line for each rank, with "
        "those for each other");
    explain->add_option("--root", options.root, "Rank that sends or gets the message");
    explain->add_option("--algorithm", options.algorithm, "As LAPLE_ALGORITHM: force one, or forbid some");
    explain->add_option("--rows", options.rows, "So many kinds of candidates")->check(CLI::Range(1, 1000));
    explain->add_option("--format", options.format, "text, json, dot, svg or trace (ui.perfetto.dev)")
        ->check(CLI::IsMember({"text", "json", "dot", "svg", "trace"}));
    add_network(explain, options);

    CLI::App* compare = app.add_subcommand("compare", "Every collective and size, beside MPI's own");
    compare->add_option("--sizes", options.sizes, "Bytes, with commas")->delimiter(',');
    compare->add_option("--root", options.root, "Rank that sends or gets the message");
    compare->add_option("--format", options.format, "text or json")->check(CLI::IsMember({"text", "json"}));
    add_network(compare, options);

    CLI::App* algorithms = app.add_subcommand("algorithms", "Those that there are, and how they are named");
    algorithms->add_option("collective", options.collective, "Only those for it");
    algorithms->add_option("--format", options.format, "text or json")
        ->check(CLI::IsMember({"text", "json"}));

    CLI::App* yardstick = app.add_subcommand("yardstick", "Every choice with all its details, a line each");
    yardstick->add_option("--sizes", options.sizes, "Bytes, with commas")->delimiter(',');
    yardstick->add_option("--roots", options.roots, "Ranks that send or get the message, with commas")
        ->delimiter(',');
    yardstick->add_option("--simulate-up-to", options.simulate_up_to, "Larger messages are not simulated");
    add_network(yardstick, options);

    CLI::App* simulate = app.add_subcommand("simulate", "Heuristics on random networks");
    options.monte_carlo.clusters = {2, 4, 6, 8, 10, 15, 20, 30, 40, 50};
    simulate->add_option("--clusters", options.monte_carlo.clusters, "Numbers of clusters, with commas")
        ->delimiter(',')
        ->check(CLI::Range(2, 1000));
    simulate->add_option("--runs", options.monte_carlo.runs, "Networks of each size")
        ->check(CLI::Range(1, 1000000));
    simulate->add_option("--seed", options.monte_carlo.seed, "Of the random numbers");
    simulate->add_flag("--overlap", options.overlap, "Clusters begin inside at once, by a sub-leader");
    simulate->add_flag("--best", options.monte_carlo.improve, "With the search for the best order");
    simulate->add_option("--format", options.format, "text or json")->check(CLI::IsMember({"text", "json"}));

    expect_command(app, {argv + 1, argv + argc});
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        fmt::print(stderr, "laple-plan: {}; see laple-plan --help\n", problem_of(app, error));
        return kBadInput;
    }
    options.collective = plain_name(options.collective);
    if (*explain) run_explain(options);
    if (*compare) run_compare(options);
    if (*algorithms) run_algorithms(options);
    if (*yardstick) run_yardstick(options);
    if (*simulate) run_simulate(options);
    return 0;
}

}  // namespace
}  // namespace laple::plan

int main(int argc, char** argv) {
    try {
        return laple::plan::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "laple-plan: {}\n", error.what());
        return laple::plan::kBadInput;
    }
}
