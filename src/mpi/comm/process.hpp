// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/options.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "collectives/planner/trial_summary.hpp"
#include "collectives/planner/trials.hpp"
#include "model/model.hpp"
#include "mpi/comm/host_allowance.hpp"
#include "mpi/comm/profile.hpp"
#include "mpi/comm/report.hpp"
#include "mpi/comm/stream_links.hpp"
#include "mpi/comm/trace.hpp"
#include "mpi/probe/waiting.hpp"
#include "topology/machine.hpp"
#include "topology/topology.hpp"

namespace laple::mpi {

class CommState;

/// What all ranks of a communicator decide from: equal on all of them, whatever their environments say.
struct Agreement {
    Topology topology;        ///< of MPI_COMM_WORLD
    std::string algorithm;    ///< LAPLE_ALGORITHM
    std::vector<Rank> ranks;  ///< of MPI_COMM_WORLD, ascending, for which it holds; empty: for all
    MachineCosts costs;       ///< of the clusters that were measured; may be empty
    /// Of each rank of MPI_COMM_WORLD, its cluster among those of `costs`; -1: none. Empty without costs.
    std::vector<int> cluster_of = {};
    /// Of each rank of MPI_COMM_WORLD a number that is equal for ranks of one host. Empty: not known.
    std::vector<int> host_of = {};
};

/// What the ranks of a communicator have found out about each other when it was set up.
struct Terms {
    std::optional<Agreement> agreement;  ///< nothing: no map is known, or a rank wants none
    bool is_strict = false;              ///< all want LAPLE_REPRODUCIBLE=strict
    bool is_verified = false;            ///< all want LAPLE_VERIFY=1
    bool heeds_pcontrol = false;         ///< all want LAPLE_PCONTROL=1
    bool has_progress = false;           ///< calls that are started go on by themselves, on all
    bool may_race = false;               ///< some rank allows threads to call MPI at the same time
    Adapting adapting = Adapting::never;
    Bytes block_memory = 0;    ///< the least LAPLE_BLOCK_MEMORY
    int streams = 0;           ///< the least LAPLE_STREAMS
    bool is_profiled = false;  ///< one wants LAPLE_PROFILE=1
    bool is_traced = false;    ///< all want LAPLE_TRACE
    const char* why_none =
        "MPI failed when its ranks were to agree on a map";  ///< where there is no agreement
};

/// Problems that are reported once, and are no errors.
enum class Warning {
    topology,
    rules_passed_over,
    former_names,
    absent_rank,
    slow_network,
    lengths,
    communicators,
    info_key,
    cache,
    rates,
    streams,
    broken_streams,
    builds,
};

/// What LaPle knows for the whole process. Hangs on an attribute of MPI_COMM_SELF, whose delete callback MPI
/// runs first thing in MPI_Finalize, however that is called; then the report is written and
/// what is left of LaPle's communicators is freed.
class Process {
  public:
    /// The state of this process, made at the first call. nullptr when MPI is not initialised (or only by a
    /// session), is finalised, or has no attribute left to give.
    static Process* get();
    /// MPI_Finalize has begun.
    static bool has_ended();

    /// The end of LaPle in this process, as the attribute's callback brings it about; does nothing the second
    /// time. Collective, when MPI is running.
    static void end();

    const Settings& settings() const { return settings_; }
    /// nullptr where nobody asks for one; a profile of all ranks needs that of each.
    Report* report() { return settings_.report.empty() && !is_profiled_by_all_ ? nullptr : &report_; }

    /// nullptr without LAPLE_TRACE.
    Trace* trace() { return trace_ ? &*trace_ : nullptr; }

    /// What the file of LAPLE_TOPOLOGY or LAPLE_MODEL says, if it is a good one; else topology_problem() says
    /// what is wrong. The first call reads it: in a large job few ranks should.
    const std::optional<Model>& model();
    /// Beside a map in LAPLE_TOPOLOGY: what the file of LAPLE_MODEL says, for its rates, if it is a good one;
    /// else rates_problem() says what is wrong.
    const std::optional<Model>& rates();
    const std::string& rates_problem();
    std::string topology_problem();
    /// The file does not fit this job: model() is nothing from now on. Another thread may go on with what it
    /// has got from there.
    void refuse_model(const std::string& problem);

    /// What a communicator's ranks have agreed on, and with it all later ones of these ranks: the file may be
    /// gone by then, or be another. The first one holds.
    void adopt(const Agreement& agreement);
    /// What was agreed on for all of `ranks` of MPI_COMM_WORLD; nullptr when nothing was.
    const Agreement* adopted(const std::vector<Rank>& ranks);
    /// All ranks of MPI_COMM_WORLD have agreed on this: later communicators need not ask again.
    void settle(std::shared_ptr<const Terms> terms);
    /// What was settled; nullptr when nothing was.
    const std::shared_ptr<const Terms>& settled() const { return settled_; }
    /// What calls of all ranks, which are on these hosts, show about plans is for the cache, at the end; and
    /// how long the job lasted. To be called on rank 0 of MPI_COMM_WORLD.
    void learn_for(const std::vector<Node>& hosts);
    /// Where what is known of the network comes from, for the report.
    void note_source(const std::string& source, const std::string& model_file);
    /// Later jobs measure more of the rates that plans are made by.
    void note_rates_missing();
    /// For the report: LaPle has taken `time` to set up a communicator; of that, it has waited so long until
    /// all ranks had come to their first call there.
    void note_set_up(Seconds time);
    void note_waited(Seconds time);
    /// Ranks have measured the network on a communicator that is a part of MPI_COMM_WORLD, for so long. A job
    /// has a budget for all of its parts (LAPLE_PROBE_BUDGET), and another one for MPI_COMM_WORLD.
    void note_parts_measured(Seconds time);
    bool have_parts_measured();
    /// True the first time only: each of these is said once.
    bool may_warn_of(Warning warning);

    /// All ranks of MPI_COMM_WORLD want a profile, or one of them does (LAPLE_PROFILE): they make it together
    /// at the end. `machine`: their own, where it is known; the last one counts.
    void profile_all(const std::optional<Machine>& machine);

    StreamLinks& streams() { return streams_; }

    /// Of this process, one of so many ranks of MPI_COMM_WORLD on its host; the first call counts.
    HostAllowance& host_allowance(std::size_t ranks_on_host);

    void add(CommState* state);
    void remove(CommState* state);

  private:
    explicit Process(Settings settings);
    static int on_finalize(MPI_Comm, int, void* value, void*);
    void read_model();
    void write_trace();
    void make_profile();
    void write_report() const;
    void write_profile(const Report::Job& job) const;
    std::string json_report(const Report::Job& job) const;
    Report::Duration duration() const;
    Report::Job job() const;
    static std::string versions();
    std::string source() const;
    void learn_from(const CommState& state);
    void keep_what_was_learnt();
    void say_what_was_verified() const;

    Settings settings_;
    bool is_report_json_ = false;  // of the file's name as it was given
    Seconds start_ = now();
    Seconds set_up_{0};
    Seconds waited_{0};
    Seconds parts_measured_{0};
    std::once_flag model_is_read_;
    std::optional<Model> model_;
    std::atomic<bool> is_model_refused_{false};
    std::optional<Model> rates_;
    std::string rates_problem_;
    std::string topology_problem_;
    std::list<Agreement> adopted_;  // a list: pointers into it stay good
    std::shared_ptr<const Terms> settled_;
    std::set<Warning> said_;
    std::string source_;
    bool are_rates_missing_ = false;
    std::string model_file_;
    Report report_;
    std::atomic<bool> is_profiled_by_all_ = false;
    std::optional<Machine> profiled_;
    std::optional<Profile> profile_;
    std::optional<Trace> trace_;
    std::vector<Node> hosts_;      // of all ranks, where the cache may have a model for them
    std::vector<CallTime> calls_;  // of communicators that are gone
    TrialSummary trials_;          // likewise
    std::mutex mutex_;
    std::optional<HostAllowance> host_allowance_;
    std::size_t ranks_on_host_ = 0;   // of this process; 0: not known
    std::vector<CommState*> states_;  // in the order of their set-up
    StreamLinks streams_;
};

/// Whether LAPLE_DISABLE turns everything off. Found out at the first call, whatever MPI's state.
bool is_disabled();

}  // namespace laple::mpi
