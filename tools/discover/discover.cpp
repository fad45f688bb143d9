// SPDX-License-Identifier: BSD-3-Clause
//
// laple-discover: measures the latency between the nodes of a job and writes which ranks are near each other.

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include "base/configuration.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "model/mpi_name.hpp"
#include "model/render.hpp"
#include "model/unfinished.hpp"
#include "mpi/probe/clock.hpp"
#include "mpi/probe/hosts.hpp"
#include "mpi/probe/memory_probe.hpp"
#include "mpi/probe/native_probe.hpp"
#include "mpi/probe/prober.hpp"
#include "mpi/probe/provenance.hpp"
#include "options.hpp"
#include "placements.hpp"
#include "plogp/link_sweep.hpp"
#include "report.hpp"
#include "topology/clustering.hpp"
#include "topology/remembered_survey.hpp"
#include "topology/survey.hpp"

namespace laple::discover {
namespace {

// Exit codes.
constexpr int kBadInput = 2;
constexpr int kUnfinished = 3;

constexpr const char* kNoNatives =
    "MPI's own collectives were not measured, but are estimated: "
    "so many ranks, so far apart, would take long to agree on a clock";

std::atomic<bool> is_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void on_interrupt(int) {
    is_interrupted = true;
}

void print(std::FILE* file, const std::string& text) {
    std::fputs(text.c_str(), file);
    std::fflush(file);
}

/// One changing line on a terminal; elsewhere a line for each tenth.
void show_progress(int done, int pairs) {
    if (isatty(STDERR_FILENO) != 0) {
        print(stderr, fmt::format("\rmeasuring: {} of {}{}", done, pairs, done == pairs ? "\n" : ""));
    } else if (done * 10 / pairs > (done - 1) * 10 / pairs) {
        print(stderr, fmt::format("measuring: {} %\n", done * 100 / pairs));
    }
}

void show_step(const std::string& what, int done, int steps) {
    if (isatty(STDERR_FILENO) != 0) {
        print(stderr, fmt::format("\r\033[Kmeasuring parameters, step {} of {}: {}{}", done + 1, steps, what,
                                  done + 1 == steps ? "\n" : ""));
    } else {
        print(stderr, fmt::format("measuring parameters, step {} of {}: {}\n", done + 1, steps, what));
    }
}

/// Hydra says on standard output that it passes Ctrl-C on, before what we have to say. Lines keep their
/// numbers.
std::string without_words_of_mpiexec(std::string text) {
    for (std::size_t line = 0; text.compare(line, 9, "[mpiexec@") == 0;) {
        const std::size_t end = text.find('\n', line);
        if (end == std::string::npos) break;
        text.erase(line, end - line);
        ++line;
    }
    return text;
}

/// Plain ECO looks at every pair, so it needs them all.
std::unique_ptr<Survey> make_survey(const std::vector<Node>& nodes, const Options& options) {
    if (options.all_pairs || options.plain_eco) {
        return survey_all_pairs(static_cast<int>(nodes.size()),
                                options.plain_eco ? Clustering::plain_eco : Clustering::sites,
                                options.clustering);
    }
    return survey_sites(by_name(nodes), options.clustering);
}

/// The first round of another survey, and then no more.
class FirstRound final : public Survey {
  public:
    explicit FirstRound(std::vector<ProbeRound> rounds) : rounds_(std::move(rounds)) { rounds_.resize(1); }
    std::vector<ProbeRound> next() override { return std::exchange(rounds_, {}); }
    void add(const PairLatency&) override {}
    Findings findings() const override { return {}; }

  private:
    std::vector<ProbeRound> rounds_;
};

/// Rank 0's part: decides, and reports.
class Leader {
  public:
    Leader(const Options& options, const std::vector<Node>& nodes, const std::vector<NodeLevel>& node_levels,
           mpi::Prober& prober, const mpi::Patience& patience)
        : options_(options), nodes_(nodes), node_levels_(node_levels), prober_(prober), patience_(patience) {}

    /// Measures, or says why not, and is done then. Returns whether MPI's own collectives are to be measured
    /// by all ranks, before finish().
    bool run() {
        read_earlier_run();
        RememberedSurvey survey(make_survey(nodes_, options_), known_latencies_);
        if (options_.is_dry_run) {
            estimate(survey);
            return false;
        }
        const Seconds start = mpi::now();
        if (!prober_.survey(survey, settle(),
                            options_.quiet ? mpi::Progress() : mpi::Progress(show_progress))) {
            keep(survey);
            return false;
        }
        const Findings found = survey.findings();
        if (!options_.quiet && nodes_.size() > 1) {
            print(stderr, fmt::format("{} pairs measured in {}\n", survey.known().size(),
                                      format_seconds(mpi::now() - start)));
        }
        model_ = describe_findings(found);
        odd_pairs_ = found.odd_pairs;
        if (options_.measures_model) measure_links(found, *model_);
        return wants_natives();
    }

    /// After run(); `native` where it was wanted. Returns the exit code.
    int finish(const JobTimes& native) {
        if (!model_) return exit_code_;
        if (native.ranks > 0 && patience_.is_over()) {
            cut_short();
        } else if (native.ranks > 0) {
            model_->links.job = native;
        }
        if (!options_.quiet) print(stderr, summary_text(*model_, odd_pairs_));
        print(stdout, text_of(*model_));
        return is_cut_short_ ? kUnfinished : 0;
    }

    /// Whether it is worth knowing what each of many messages costs.
    bool wants_exchange() const { return model_ && has_near_clusters(*model_); }

  private:
    Seconds settle() const { return Seconds(options_.settle_ms / 1000); }

    /// What --resume names: latencies of an unfinished run, or a model to which parameters are missing.
    void read_earlier_run() {
        if (options_.resume.empty()) return;
        const JsonDocument document =
            JsonDocument::parse(without_words_of_mpiexec(read_file(options_.resume)), options_.resume);
        const Json& root = document.root();
        if (root.is_object() && root.contains("format") && root["format"] == kUnfinishedFormat) {
            known_latencies_ = parse_unfinished(document, nodes_);
            return;
        }
        earlier_ = adapted_to(parse_model(document), nodes_, options_.resume);
        if (is_rough(earlier_.links)) earlier_.links = {};  // what a job has kept: its latencies are good
        if (!is_of_version(earlier_.mpi, mpi::mpi_version())) earlier_.links.job = {};
        for (int a = 0; a < earlier_.matrix.nodes(); ++a) {
            for (int b = a + 1; b < earlier_.matrix.nodes(); ++b)
                if (earlier_.matrix.at(a, b) <= kLongestLatency)
                    known_latencies_[{a, b}] = earlier_.matrix.at(a, b);
        }
    }

    bool wants_natives() {
        std::erase(model_->links.warnings, kNoNatives);
        if (!options_.measures_model || is_cut_short_ || model_->topology.size() == 1 ||
            model_->links.job.ranks > 0)
            return false;
        if (patience_.is_over()) {
            cut_short();
            return false;
        }
        constexpr Seconds kMost{30};
        if (mpi::Clock::time_to_compare(model_->nodes.size(), farthest(*model_)) > kMost) {
            model_->links.warnings.emplace_back(kNoNatives);
            return false;
        }
        if (!options_.quiet) print(stderr, "measuring MPI's own collectives\n");
        return true;
    }

    void estimate(Survey& survey) {
        const std::vector<ProbeRound> rounds = survey.next();
        if (rounds.empty()) {
            print(stdout, "nothing to measure\n");
            return;
        }
        const bool is_part = static_cast<int>(nodes_.size()) >= kManyNodes && !options_.all_pairs;
        FirstRound first(rounds);
        const Seconds start = mpi::now();
        prober_.survey(first, settle());
        const Seconds time = mpi::now() - start;
        std::size_t pairs = 0;
        for (const ProbeRound& round : rounds) pairs += round.size();
        print(stdout,
              fmt::format("{} nodes, {} pairs in {} rounds{}; the first round took {}: about {} in all\n",
                          nodes_.size(), pairs, rounds.size(), is_part ? " to begin with" : "",
                          format_seconds(time),
                          format_seconds(time * static_cast<double>(rounds.size()) * (is_part ? 2 : 1))));
        if (options_.measures_model)
            print(stdout,
                  "parameters come on top: mostly some seconds for each cluster and each two of them\n");
    }

    void keep(const RememberedSurvey& survey) {
        print(stdout, unfinished_text(nodes_, survey.known()));
        print(stderr,
              fmt::format("laple-discover: stopped with {} pairs measured; to go on, give what was written "
                          "to standard output as --resume FILE\n",
                          survey.known().size()));
        exit_code_ = kUnfinished;
    }

    Model describe_findings(const Findings& found) const {
        Model model = model_of(found, nodes_, options_.clustering, mpi::mpi_in_use());
        model.date = mpi::now_in_utc();
        model.version = LAPLE_VERSION;
        model.node_levels = node_levels_;
        return model;
    }

    void measure_links(const Findings& found, Model& model) {
        const bool fits = earlier_.topology == model.topology;
        LinkSurveyInput input = link_survey_input(found);
        input.is_undisturbed = settle() == Seconds(0);
        model.links = survey_links(
            prober_, input, fits ? earlier_.links : LinkModel(),
            [&] {
                is_cut_short_ = patience_.is_over();
                return !is_cut_short_;
            },
            options_.quiet ? LinkProgress() : LinkProgress(show_step));
        if (is_cut_short_) cut_short();
    }

    void cut_short() {
        is_cut_short_ = true;
        print(
            stderr,
            "laple-discover: stopped before all parameters were measured; to go on, give what was written to "
            "standard output as --resume FILE\n");
    }

    std::string text_of(const Model& model) const {
        switch (options_.format) {
            case Format::json:
                return model_text(model);
            case Format::dot:
                return dot_text(model);
            case Format::svg:
                return svg_text(model);
            case Format::text:
                break;
        }
        return magpie_text(model);
    }

    const Options& options_;
    const std::vector<Node>& nodes_;
    const std::vector<NodeLevel>& node_levels_;
    mpi::Prober& prober_;
    mpi::Patience patience_;
    RememberedSurvey::Latencies known_latencies_;
    Model earlier_;
    std::optional<Model> model_;  // once it is measured
    int odd_pairs_ = 0;           // that do not fit the clusters
    bool is_cut_short_ = false;
    int exit_code_ = 0;  // without a model
};

/// MPI's own collectives and messages inside hosts, on all ranks; with an exchange of empty messages if that
/// is wanted. What is wanted counts on rank 0, as does the result.
JobTimes measure_natives_if(bool wanted, bool wants_exchange, const mpi::NodeLayout& layout,
                            const mpi::Patience& patience) {
    constexpr Seconds kMost{15};
    int is_wanted = wanted ? 1 : 0;
    PMPI_Bcast(&is_wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (is_wanted == 0) return {};
    const Plogp memory =
        mpi::measure_memory(MPI_COMM_WORLD, layout.node(), configuration().settings.shared_memory);
    JobTimes native =
        mpi::measure_natives(MPI_COMM_WORLD, mpi::NativeSizes::many, kMost, patience, {}, wants_exchange);
    native.memory = memory;
    native.is_unfinished = false;  // no later job goes on
    return native;
}

int discover(const Options& options) {
    const mpi::Patience patience{
        options.budget > 0 ? mpi::now() + Seconds(options.budget) : mpi::Patience().until, &is_interrupted};
    mpi::NodeLayout layout(MPI_COMM_WORLD);
    const std::vector<NodeLevel> node_levels = node_levels_of(layout.nodes(), gather_placements(layout));
    std::optional<mpi::Prober> prober;
    std::optional<Leader> leader;
    int exit_code = 0;
    bool wants_natives = false;
    if (layout.probes() != MPI_COMM_NULL) prober.emplace(layout.probes(), patience);
    if (prober && layout.nodes().empty()) prober->follow();
    if (prober && !layout.nodes().empty()) {
        leader.emplace(options, layout.nodes(), node_levels, *prober, patience);
        // Bad input is said, and all go home.
        try {
            wants_natives = leader->run();
        } catch (const Error& error) {
            print(stderr, fmt::format("laple-discover: {}\n", error.what()));
            exit_code = kBadInput;
            leader.reset();
        }
        prober->dismiss();
    }
    layout.sleep_until_measured();
    const bool wants_exchange = leader && leader->wants_exchange();
    const JobTimes native = measure_natives_if(wants_natives, wants_exchange, layout, patience);
    return leader ? leader->finish(native) : exit_code;
}

int run(int argc, char** argv) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Options options;
    int exit_code = 0;
    if (!parse(argc, argv, rank == 0, options, exit_code)) return exit_code;
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    try {
        return discover(options);
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
