// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/discovery.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "mpi/exec/communicator.hpp"
#include "mpi/probe/clock.hpp"
#include "mpi/probe/hosts.hpp"
#include "mpi/probe/memory_probe.hpp"
#include "mpi/probe/native_probe.hpp"
#include "mpi/probe/prober.hpp"
#include "mpi/probe/provenance.hpp"
#include "plogp/link_sweep.hpp"
#include "topology/clustering.hpp"
#include "topology/remembered_survey.hpp"
#include "topology/survey.hpp"

namespace laple::mpi {
namespace {

constexpr double kInAll = 1.5;     // budgets, until the first collective may begin
constexpr double kForRates = 0.2;  // of a budget, for rates at least
// Agreeing, communicators and new connections come after measuring. They took 1.1 to 1.35 times as long as it
// took to find out who shares a host, between sites 5 to 45 ms apart; on busy machines they take more.
constexpr double kAfter = 1.8;
constexpr Seconds kLeastAfter = std::chrono::milliseconds(150);  // between near sites, where cores are shared
// Of a budget, for MPI's own collectives: at one site, where the first job may be short, and where rates are
// still missing, which count for more; between near sites once those are known, as estimates of long calls
// are optimistic; and in later jobs at most, where those before have lasted long enough.
constexpr double kOfNatives = 0.04;
constexpr double kOfNativesOfSites = 0.25;
constexpr double kOfNativesLater = 0.25;
constexpr Seconds kWorthConnecting = std::chrono::milliseconds(100);
constexpr double kOfClocks = 0.5;  // of that time, at most, to compare clocks

/// Rates are measured until `end`, but for some part of the budget.
Discovery lead(Prober& prober, const std::vector<Node>& nodes, const ModelCache& cache, Seconds budget,
               Seconds end) {
    Discovery discovery;
    const ClusteringOptions options;
    RememberedSurvey survey(survey_sites(by_name(nodes), options),
                            cache.find_latencies(nodes, mpi_in_use(), discovery.note));
    if (!prober.survey_quickly(survey, kSettle)) {
        discovery.is_kept = !survey.known().empty() &&
                            cache.keep_latencies(nodes, mpi_in_use(), survey.known(), discovery.note);
        return discovery;
    }
    const Findings found = survey.findings();
    Model& model = discovery.model.emplace(model_of(found, nodes, options, mpi_in_use()));
    // Of near sites MPI's own collectives are measured after that, and clocks are compared for them.
    if (farthest(model) < kFar) end -= 2 * kOfNatives * budget;
    const Seconds end_of_rates = std::max(end, now() + kForRates * budget);
    model.links = sweep_links(prober, link_survey_input(found),
                              [&](Seconds needed) { return now() + needed < end_of_rates; });
    model.date = now_in_utc();
    model.version = LAPLE_VERSION;
    return discovery;
}

std::vector<std::vector<Rank>> ranks_of(const std::vector<Node>& nodes) {
    std::vector<std::vector<Rank>> ranks;
    for (const Node& node : nodes) ranks.push_back(node.ranks);
    return ranks;
}

/// How long a first job may measure MPI's own collectives, which has measured since `start`, and may until
/// `end`.
Seconds left_for_natives(const Model& model, Seconds budget, Seconds start, Seconds end) {
    const Seconds least = kOfNatives * budget;
    if (model.inside.size() < 2 || is_unfinished(model.links)) return least;
    const Seconds after_rates = std::min(kOfNativesOfSites * budget, end - now());
    return std::max({least, after_rates, start + budget - now()});
}

/// How long a later job may. The first one with this placement of ranks knows nothing of them.
Seconds allowed_for_natives(const Model& model, Seconds budget) {
    const JobTimes& job = model.links.job;
    if (job.times.empty()) return (model.inside.size() > 1 ? kOfNativesOfSites : kOfNatives) * budget;
    const bool are_rates_next = is_unfinished(model.links) && model.links.sweeps >= kFreeSweeps;
    if (!job.is_unfinished || are_rates_next || job.allowance < kWorthConnecting) return Seconds(0);
    return std::min(job.allowance, kOfNativesLater * budget);
}

bool can_measure_natives_in(Seconds time, const Model& model) {
    const Seconds clocks = Clock::time_to_compare(model.nodes.size(), farthest(model));
    return time > Seconds(0) && farthest(model) < kFar && clocks < kOfClocks * time;
}

/// `host` has the ranks of this rank's host; `model` is rank 0's, as is `most`.
JobTimes measure_job(MPI_Comm comm, MPI_Comm host, const Settings& settings, const Model& model,
                     Seconds most) {
    int is_known = model.links.job.memory != Plogp() ? 1 : 0;
    PMPI_Bcast(&is_known, 1, MPI_INT, 0, comm);
    const Plogp memory =
        is_known != 0 ? model.links.job.memory : measure_memory(comm, host, settings.shared_memory);
    JobTimes native = measure_natives(comm, NativeSizes::few, most, {now() + most, nullptr}, model.links.job,
                                      has_near_clusters(model));
    native.memory = memory;
    return native;
}

}  // namespace

Discovery discover(MPI_Comm comm, const Settings& settings, const ModelCache& cache) {
    const Seconds budget(settings.probe_budget);
    const Seconds start = now();
    const NodeLayout layout(comm);
    if (!layout.is_good()) return {};
    const Seconds after = std::max(kAfter * (now() - start), std::min(kLeastAfter, kForRates * budget));
    // Between sites that are farther than 50 ms to set up communicators takes as long as the latencies do.
    const Patience patience{now() + budget, nullptr};
    const Seconds end = start + kInAll * budget - after;
    Discovery discovery;
    std::optional<Model>& model = discovery.model;
    if (layout.probes() != MPI_COMM_NULL) {
        Prober prober(layout.probes(), patience);
        if (layout.nodes().empty()) {
            prober.follow();
        } else {
            discovery = lead(prober, layout.nodes(), cache, budget, end);
            prober.dismiss();
        }
    }
    layout.sleep_until_measured();
    const Seconds left = left_for_natives(model.value_or(Model()), budget, start, end);
    int is_wanted = model && can_measure_natives_in(left, *model) ? 1 : 0;
    PMPI_Bcast(&is_wanted, 1, MPI_INT, 0, comm);
    if (is_wanted == 0) return discovery;
    JobTimes native = measure_job(comm, layout.node(), settings, model.value_or(Model()), left);
    if (model) model->links.job = std::move(native);
    return discovery;
}

bool can_measure_rates(const Model& model, Seconds budget) {
    const bool are_missing =
        model.links.clusters.empty() || is_unfinished(model.links) || is_of_part(model.links);
    return are_missing && model.nodes.size() > 1 &&
           time_for_sweep(model.links, farthest(model), budget).most > Seconds(0) &&
           !link_survey_input(model).clusters.empty();
}

LinkModel discover_rates(MPI_Comm comm, const Settings& settings, const Model& model) {
    const Seconds start = now();
    const NodeLayout layout(comm);
    LinkModel links = model.links;
    if (!layout.is_good()) return links;
    if (is_of_part(links)) {
        links = {};
        links.job = model.links.job;
    }
    const SweepTime time = time_for_sweep(links, farthest(model), Seconds(settings.probe_budget));
    const Seconds end = (time.is_free ? now() : start) + time.most;
    if (layout.probes() != MPI_COMM_NULL) {
        Prober prober(layout.probes(), {end, nullptr});
        if (layout.nodes().empty()) {
            prober.follow();
        } else {
            if (ranks_of(layout.nodes()) == ranks_of(model.nodes))
                links = sweep_links(
                    prober, link_survey_input(model), [end](Seconds needed) { return now() + needed < end; },
                    std::move(links));
            prober.dismiss();
        }
    }
    layout.sleep_until_measured();
    if (!time.is_free) links.job.allowance = std::max(links.job.allowance - (now() - start), Seconds(0));
    return links;
}

bool can_measure_natives(const Model& model, Seconds budget) {
    return can_measure_natives_in(allowed_for_natives(model, budget), model);
}

JobTimes discover_natives(MPI_Comm comm, const Settings& settings, const Model& model) {
    const Seconds start = now();
    MPI_Comm host = MPI_COMM_NULL;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_in(comm), MPI_INFO_NULL, &host) != MPI_SUCCESS)
        return {};
    const Seconds most = allowed_for_natives(model, Seconds(settings.probe_budget));
    JobTimes native = measure_job(comm, host, settings, model, most);
    PMPI_Comm_free(&host);
    const bool is_more_missing = native.is_unfinished || is_unfinished(model.links);
    const Seconds left = is_more_missing ? native.allowance - (now() - start) : Seconds(0);
    native.allowance = std::max(left, Seconds(0));
    return native;
}

}  // namespace laple::mpi
