// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/process.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/configuration.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/version.hpp"
#include "collectives/planner/known_calls.hpp"
#include "collectives/planner/rules.hpp"
#include "model/cache.hpp"
#include "model/model_file.hpp"
#include "mpi/comm/bypass.hpp"
#include "mpi/comm/comm_state.hpp"
#include "mpi/comm/finalize.hpp"
#include "mpi/comm/gathered_profile.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/pairing.hpp"
#include "mpi/comm/progress_engine.hpp"
#include "mpi/comm/result_file.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/probe/provenance.hpp"
#include "plogp/link_sweep.hpp"

namespace laple::mpi {
namespace {

bool is_world_rank_zero() {
    return rank_in(MPI_COMM_WORLD) == 0;
}

/// MPI_Finalize has begun: MPI_COMM_SELF may be gone though MPI is not, while attributes of other
/// communicators are being deleted.
std::atomic<bool> is_over{false};

std::atomic<int> self_keyval{MPI_KEYVAL_INVALID};

/// MPI is usable, and MPI_COMM_SELF and MPI_COMM_WORLD exist.
bool is_mpi_running() {
    int flag = 0;
    if (PMPI_Initialized(&flag) != MPI_SUCCESS || flag == 0) return false;
    return PMPI_Finalized(&flag) == MPI_SUCCESS && flag == 0;
}

/// Which this code is in.
std::string library_file() {
    Dl_info info{};
    return dladdr(reinterpret_cast<const void*>(&library_file), &info) != 0 ? info.dli_fname : "the program";
}

/// This world was started by another one, which has the same settings, and files by the same names.
bool was_spawned() {
    MPI_Comm parent = MPI_COMM_NULL;
    return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

void say_what_is_misconfigured() {
    if (!is_world_rank_zero()) return;
    for (const std::string& warning : configuration().warnings) say(warning);
}

}  // namespace

bool is_disabled() {
    static const bool disabled = [] {
        if (is_beside_another_mpi()) return true;
        if (is_behind_another_laple()) {
            if (is_mpi_running() && is_world_rank_zero()) {
                say("liblaple and liblaple_deep are loaded both: the first one works, the other does "
                    "nothing; preload one of them");
            }
            return true;
        }
        const bool is_off = configuration().settings.is_disabled;
        if (is_off && is_mpi_running()) say_what_is_misconfigured();  // where LaPle is on, Process does
        return is_off;
    }();
    return disabled;
}

bool Process::has_ended() {
    return is_over.load(std::memory_order_relaxed);
}

Process* Process::get() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (is_over || !is_mpi_running()) return nullptr;
    int keyval = self_keyval;
    if (keyval == MPI_KEYVAL_INVALID) {
        if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Process::on_finalize, &keyval, nullptr) !=
            MPI_SUCCESS) {
            return nullptr;
        }
        self_keyval = keyval;
    }
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(MPI_COMM_SELF, keyval, &value, &found);
    if (found != 0) return static_cast<Process*>(value);

    std::unique_ptr<Process> process(new Process(configuration().settings));
    say_what_is_misconfigured();
    if (PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, process.get()) != MPI_SUCCESS) return nullptr;
    return process.release();
}

void Process::end() {
    if (self_keyval != MPI_KEYVAL_INVALID && !is_over) PMPI_Comm_delete_attr(MPI_COMM_SELF, self_keyval);
}

Process::Process(Settings settings)
    : settings_(std::move(settings)),
      is_report_json_(settings_.report.ends_with(".json")),
      streams_(settings_) {
    // Asked for last: SimGrid ends a program that asks.
    for (std::string* const file : {&settings_.report, &settings_.trace, &settings_.profile_file}) {
        const bool is_file = !file->empty() && *file != "-" && !is_stream(*file);
        if (is_file && was_spawned()) *file += fmt::format(".spawned-{}", getpid());
    }
    if (!settings_.trace.empty()) trace_.emplace(settings_.trace);
    try {
        parse_rules(settings_.algorithm);
    } catch (const Error& error) {
        if (is_world_rank_zero())
            say(fmt::format("{} is ignored: {}", configuration().named("LAPLE_ALGORITHM"), error.what()));
        settings_.algorithm.clear();
    }
    if (settings_.debug >= 1 && is_world_rank_zero()) {
        say(fmt::format("LaPle {} from {}, {}", version_text(), library_file(), mpi_version()));
        say(fmt::format("settings: {}", configuration().describe_given()));
    }
    if (settings_.has_progress_thread && !may_threads_race() && is_world_rank_zero())
        say("LAPLE_PROGRESS=thread has no effect: MPI provides no MPI_THREAD_MULTIPLE, or was not "
            "initialised through LaPle; non-blocking collectives go on in MPI's calls only");
}

const std::optional<Model>& Process::model() {
    static const std::optional<Model> kNone;
    std::call_once(model_is_read_, [this] { read_model(); });
    return is_model_refused_ ? kNone : model_;
}

const std::optional<Model>& Process::rates() {
    model();
    return rates_;
}

const std::string& Process::rates_problem() {
    model();
    return rates_problem_;
}

std::string Process::topology_problem() {
    model();
    const std::lock_guard lock(mutex_);
    return topology_problem_;
}

void Process::refuse_model(const std::string& problem) {
    model();
    const std::lock_guard lock(mutex_);
    topology_problem_ = problem;
    is_model_refused_ = true;
}

void Process::read_model() {
    const auto read = [](const std::string& file, std::optional<Model>& model, std::string& problem) {
        try {
            model = parse_model_file(read_file(file), file);
        } catch (const std::exception& error) {
            // Of any kind: the others wait for what this rank has to say.
            problem = error.what();
        }
    };
    if (settings_.has_topology_file()) read(settings_.topology_file(), model_, topology_problem_);
    if (settings_.has_rates_file()) read(settings_.model, rates_, rates_problem_);
}

void Process::adopt(const Agreement& agreement) {
    const std::lock_guard lock(mutex_);
    adopted_.push_back(agreement);
}

const Agreement* Process::adopted(const std::vector<Rank>& ranks) {
    const std::lock_guard lock(mutex_);
    for (const Agreement& agreement : adopted_) {
        const auto& known = agreement.ranks;
        const bool holds = std::all_of(ranks.begin(), ranks.end(), [&](Rank rank) {
            return known.empty() || std::binary_search(known.begin(), known.end(), rank);
        });
        if (holds) return &agreement;
    }
    return nullptr;
}

void Process::settle(std::shared_ptr<const Terms> terms) {
    if (!settled_) settled_ = std::move(terms);
}

void Process::learn_for(const std::vector<Node>& hosts) {
    const std::lock_guard lock(mutex_);
    hosts_ = hosts;
}

bool Process::may_warn_of(Warning warning) {
    const std::lock_guard lock(mutex_);
    return said_.insert(warning).second;
}

void Process::note_source(const std::string& source, const std::string& model_file) {
    const std::lock_guard lock(mutex_);
    source_ = source;
    model_file_ = model_file;
}

HostAllowance& Process::host_allowance(std::size_t ranks_on_host) {
    const std::lock_guard lock(mutex_);
    if (!host_allowance_) host_allowance_.emplace(settings_.shared_memory / ranks_on_host);
    ranks_on_host_ = std::max(ranks_on_host_, ranks_on_host);
    return *host_allowance_;
}

void Process::add(CommState* state) {
    const std::lock_guard lock(mutex_);
    states_.push_back(state);
}

void Process::remove(CommState* state) {
    const std::lock_guard lock(mutex_);
    learn_from(*state);
    if (!settings_.report.empty()) trials_.add(state->trial_summary());
    std::erase(states_, state);
}

int Process::on_finalize(MPI_Comm, int, void* value, void*) {
    is_over = true;
    // Some Fortran bindings reach MPI's own MPI_Finalize directly.
    end_started_calls();
    answer_others_in_finalize();
    const std::unique_ptr<Process> process(static_cast<Process*>(value));
    process->make_profile();
    process->write_report();
    process->write_trace();
    process->keep_what_was_learnt();
    process->say_what_was_verified();
    // Freeing is collective; the order of set-up is the same on all ranks.
    for (CommState* state : process->states_) state->detach_from_process();
    return MPI_SUCCESS;
}

/// "No difference" is worth reporting only where something was compared.
void Process::say_what_was_verified() const {
    if (!settings_.verify || !is_world_rank_zero()) return;
    const int compared = verification_count.compared;
    const int different = verification_count.different;
    if (compared == 0) {
        return say(
            "LAPLE_VERIFY: nothing was compared: no collective with data was done by LaPle, or not all "
            "ranks have LAPLE_VERIFY=1");
    }
    say(fmt::format("LAPLE_VERIFY: {} results of rank 0 compared with MPI's own, {} differ", compared,
                    different == 0 ? "none" : std::to_string(different)));
}

/// Nothing may be thrown through MPI.
void Process::write_trace() try {
    if (trace_) trace_->write(versions());
} catch (const std::exception& error) {
    say(fmt::format("LAPLE_TRACE: {} is not written: {}", settings_.trace, error.what()));
}

void Process::write_report() const {
    if (settings_.report.empty() || !is_world_rank_zero()) return;
    const Report::Job job = this->job();
    const std::string text = report_.text(versions(), job);
    write_profile(job);
    if (settings_.report == "-") return say(text);
    const std::string problem = write_result(settings_.report, is_report_json_ ? json_report(job) : text);
    if (!problem.empty()) {
        say(fmt::format("the report cannot be written to {}: {}; it follows\n{}", settings_.report, problem,
                        text));
    }
}

/// For programs.
std::string Process::json_report(const Report::Job& job) const {
    Json json = report_.json(versions(), job);
    if (profile_) profile_->add_to(json);
    return json_text(json) + "\n";
}

/// Beside the report.
void Process::write_profile(const Report::Job& job) const {
    if (!profile_ || settings_.profile_file.empty()) return;
    const std::string problem = write_result(settings_.profile_file, json_report(job));
    say(problem.empty()
            ? fmt::format("profile: {} (draw who sends to whom: laple-plot traffic)", settings_.profile_file)
            : fmt::format("the profile cannot be written to {}: {}", settings_.profile_file, problem));
}

std::string Process::versions() {
    return fmt::format("LaPle {}, {}", version_text(), mpi_version());
}

void Process::profile_all(const std::optional<Machine>& machine) {
    const std::lock_guard lock(mutex_);
    is_profiled_by_all_ = true;
    bypass.comm.store(MPI_COMM_NULL, std::memory_order_relaxed);  // from now on calls on it count, too
    profiled_ = machine;
    if (!machine) return;
    Messages::Places places{rank_in(MPI_COMM_WORLD), {}, {}};
    for (Rank rank = 0; rank < machine->rank_count(); ++rank) {
        places.cluster_of.push_back(machine->cluster_of_rank(rank));
        places.host_of.push_back(machine->host_of(rank));
    }
    Messages::get().learn(std::move(places));
}

/// Collective where a communicator of all ranks was set up.
void Process::make_profile() try {
    if (size_of(MPI_COMM_WORLD) == 1 && settings_.is_profile) profile_all(Machine(Topology::flat(1)));
    if (is_profiled_by_all_) {
        profile_ = gathered_profile(report_, duration(), profiled_);
    } else if (settings_.is_profile) {
        profile_ = own_profile(report_, duration(), profiled_);
    }
} catch (const std::exception&) {
    // No memory is left: the report does without.
}

void Process::note_set_up(Seconds time) {
    const std::lock_guard lock(mutex_);
    set_up_ += time;
}

void Process::note_waited(Seconds time) {
    const std::lock_guard lock(mutex_);
    waited_ += time;
}

void Process::note_parts_measured(Seconds time) {
    const std::lock_guard lock(mutex_);
    parts_measured_ += time;
}

bool Process::have_parts_measured() {
    const std::lock_guard lock(mutex_);
    return parts_measured_ > Seconds(settings_.probe_budget);
}

/// Threads may set up communicators at the same time.
Report::Duration Process::duration() const {
    const Seconds wall = now() - start_;
    return {wall, std::clamp(set_up_ - waited_, Seconds(0), wall), std::min(waited_, wall)};
}

Report::Job Process::job() const {
    TrialSummary trials = trials_;
    Report::Job job;
    job.ranks = size_of(MPI_COMM_WORLD);
    job.is_profile = settings_.is_profile;
    for (const CommState* state : states_) {
        trials.add(state->trial_summary());
        job.is_profile = job.is_profile || state->is_profiled();
        if (state->is_like_world() && state->is_machine_known()) job.network = describe(state->machine());
    }
    job.source = source();
    const std::string& problem = settings_.has_rates_file() ? rates_problem_ : topology_problem_;
    job.model_file = !settings_.model.empty() && problem.empty() ? settings_.model : model_file_;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > 0 && ranks_on_host_ > static_cast<std::size_t>(cores))
        job.shared_cores = fmt::format("{} ranks share the {} cores of a host", ranks_on_host_, cores);
    job.duration = duration();
    job.trials = trials.text();
    job.streams = streams_.report();
    if (profile_) {
        job.messages = profile_->table();
        job.remainder = profile_->remainder();
    }
    return job;
}

void Process::note_rates_missing() {
    const std::lock_guard lock(mutex_);
    are_rates_missing_ = true;
}

/// Of the map, and of the rates where they are apart.
std::string Process::source() const {
    if (!settings_.has_topology_file())
        return source_ + (are_rates_missing_ ? "; some rates are not measured yet: later jobs go on" : "");
    if (!topology_problem_.empty()) return "";
    const std::string map = fmt::format("map from {}", settings_.topology_file());
    return settings_.has_rates_file() ? fmt::format("{}, rates from {}", map, settings_.model) : map;
}

/// Of communicators of all ranks in the order of MPI_COMM_WORLD: times of others mean nothing to the next
/// job.
void Process::learn_from(const CommState& state) {
    if (!hosts_.empty() && state.is_like_world()) gather_calls(state.tried_calls(), calls_);
}

void Process::keep_what_was_learnt() try {
    constexpr double kForMeasuring = 0.01;
    for (const CommState* state : states_) learn_from(*state);
    if (hosts_.empty()) return;
    std::string note;
    const ModelCache cache(ModelCache::default_directory());
    auto found = cache.find(hosts_, mpi_in_use(), note);
    if (!found) return;  // removed meanwhile
    JobTimes& job = found->model.links.job;
    const bool may_measure = job.is_unfinished || is_unfinished(found->model.links);
    if (calls_.empty() && !may_measure) return;
    job.ranks = found->model.topology.size();
    add_calls(calls_, job.calls);
    if (may_measure) job.allowance += kForMeasuring * (now() - start_);
    cache.keep_job(found->model, note);
    if (settings_.debug >= 1 && !calls_.empty())
        say(note.empty() ? "what trials of plans have shown is kept for the next job with these ranks"
                         : note);
} catch (const std::exception&) {
    // The next job does without.
}

}  // namespace laple::mpi
