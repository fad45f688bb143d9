// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collectives/cost/machine_costs.hpp"
#include "collectives/drift/links_now.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/rules.hpp"
#include "collectives/planner/trial_summary.hpp"
#include "collectives/planner/trials.hpp"
#include "collectives/schedule/step_graph.hpp"
#include "collectives/simulation/simulator.hpp"
#include "mpi/comm/link_watch.hpp"
#include "mpi/comm/native_calls.hpp"
#include "mpi/comm/own_comms.hpp"
#include "mpi/comm/report.hpp"
#include "mpi/exec/block_exchange.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

class Process;

/// A plan that is ready to run; without a schedule MPI's own call is the plan.
struct PreparedPlan {
    std::string algorithm;
    std::unique_ptr<PreparedSchedule> schedule;
    std::unique_ptr<BlockPlan> blocks;  ///< where they have different sizes
    /// Whom messages reach by streams; nullptr: they all go by MPI.
    std::shared_ptr<const StreamRoutes> routes;
    bool lacks_streams = false;     ///< those that it wants may not be there: it was not to wait for them
    Seconds watched_prediction{0};  ///< where SlownessWatch looks at it; else 0
    Expectation expected{};         ///< for reports
    /// Where calls are traced, on rank 0 (TracedCall::simulate).
    std::function<std::vector<SimulatedMessage>()> simulate = {};
    bool is_native() const { return schedule == nullptr; }
};

/// Calls of LaPle's own that trials need.
struct OwnCalls {
    Request start;      ///< before a call that is timed
    Request agreement;  ///< on the times of a round
};

/// The plans of one communicator, each made when it is first needed. To be asked on all ranks alike: then
/// they are equal on all of them.
class PlanCache {
  public:
    /// For `rank` of `machine`, whose clusters have these costs (none, where they are not known), and by
    /// these rules (LAPLE_ALGORITHM of all ranks), with so many `streams` (LAPLE_STREAMS). The references
    /// must outlive this. `native_calls` are cleared when plans are forgotten: a call that is tried anew must
    /// be counted by all ranks. `is_traced`: plans say how they are simulated.
    PlanCache(Process& process, const Machine& machine, MachineCosts costs, const std::string& rules,
              Adapting adapting, int streams, const OwnCalls& own_calls, OwnComms& comms,
              NativeCalls& native_calls, int rank, bool is_traced);

    /// What the next call does. Good until the next one is asked for.
    struct Next {
        const PreparedPlan* plan = nullptr;
        Trials* trials = nullptr;  ///< where the call is to be timed, or `beside` beside it
        const PreparedPlan* beside = nullptr;
        LinkWatch* links = nullptr;  ///< where it wants the times of the call's steps
        bool is_for_good = true;     ///< later calls of this kind do the same
    };
    /// `may_be_repeated`: the call may be done once more, without a trace (Trials::next).
    Next next(const Request& request, bool may_be_repeated);
    /// What a call does that is started and goes on by itself: as blocking calls do. nullptr where that is
    /// MPI's own, or where its steps block; and, unless it may wait for other ranks here, where they must get
    /// ready together first. Then `why_not` says so for people, as long as the plans are kept.
    enum class Wait { no, yes };
    std::shared_ptr<const PreparedPlan> plan_to_start(const Request& request, Wait wait,
                                                      std::string_view& why_not);
    PreparedPlan make(const Request& request);
    /// What such calls would do, and were expected to take; `bytes`: of a block on the average, where
    /// they differ.
    struct Outlook {
        std::string algorithm;
        Expectation expected;
    };
    Outlook outlook(const Request& request, Bytes bytes);
    /// What is expected of a call whose blocks have different sizes, that this rank alone knows: that of one
    /// whose blocks all have `bytes`. `reason`: for the plan that is taken.
    Expectation expected_of_blocks(Collective collective, Bytes bytes, const std::string& reason);
    /// What is expected of a call by `plan`, which next() has just given, with what trials have shown so far.
    Expectation expected_now(const PreparedPlan& plan) const;
    /// Of trials that a call was timed for, whose round is over; `agreed` as in Trials::conclude().
    void conclude(Trials& trials, std::span<const double> agreed);

    /// Links are not watched any more, until plans are asked for again: nothing that other ranks have to end
    /// is left under way. Waits for them.
    void end_watches();

    /// Of this communicator, so far.
    TrialSummary trial_summary() const;
    /// What they have found out so far, where this job has tried something (known_calls.hpp).
    std::vector<CallTime> tried_calls() const;

    /// Plans by other rules from now on; "default": by those of the constructor. Where something is wrong
    /// with them: false, and nothing is changed; the first time of a process, it is said what.
    bool set_rules(const std::string& rules);

  private:
    struct RequestHash {
        std::size_t operator()(const Request& request) const;
    };

    /// Calls that go by one choice: those of one size class, or for one request.
    struct CallClass {
        Request request;              // without counts, where those in it differ
        std::uint64_t all_units = 0;  // of them together then
        bool operator==(const CallClass&) const = default;
    };
    struct CallClassHash {
        std::size_t operator()(const CallClass& calls) const {
            return RequestHash()(calls.request) ^ (calls.all_units * 0x9E3779B97F4A7C15u);
        }
    };
    struct Choice {
        std::vector<Plan> plans;       // the planner's choice first
        std::optional<Trials> trials;  // where there are several
        bool is_by_limits = false;     // plans are for links that are slower than they were measured
        std::vector<std::optional<bool>> shows_links = {};  // of plans, once asked: calls tell of links
        std::unique_ptr<LinkWatch> links = nullptr;  // where calls tell of them; made when first needed
        bool is_of_calls = false;                    // not only of reports: then all ranks have it
        int calls = 0;                               // that next() was asked for, as far as they are counted
        int others = 0;                              // since the last one for the request that `links` is for
    };
    /// Of one request: of the plans of its class those that were needed.
    struct Entry {
        Choice* choice;
        std::vector<std::shared_ptr<const PreparedPlan>> plans;
        std::uint64_t number;  // of no other entry, before or after
    };

    Choice choose(const Request& request) const;
    Choice& choice_for(const Request& request);
    Entry& entry_for(const Request& request);
    const PreparedPlan& prepared(const Request& request, std::size_t number, Entry& entry,
                                 Wait wait = Wait::yes);
    void prepare_and_keep(const Request& request, std::size_t number, Entry& entry, Wait wait);
    PreparedPlan prepare(Plan& plan, Wait wait);
    BlockPlan block_plan(const Plan& plan) const;
    std::function<std::vector<SimulatedMessage>()> simulation_of(const Plan& plan) const;
    void give_streams(const Plan& plan, Wait wait, PreparedPlan& prepared);
    std::vector<StreamLinks::Peer> stream_peers(const Plan& plan, const PreparedPlan& prepared) const;
    std::optional<Trials> trials_of(const std::vector<Plan>& plans, bool is_for_later) const;
    const Trials::Conditions& conditions_of_trials() const;
    bool may_adapt() const;
    bool keeps_its_plan(const Request& request) const;
    const MachineCosts& costs_of(const Request& request) const;
    MachineCosts costs_of_own_calls() const;
    bool is_by_class(const Request& request) const;
    CallClass class_of(const Request& request) const;
    Expectation expected_at(const Plan& plan, const Request& request) const;
    const Outlook& usual_outlook(const Request& request);
    std::optional<Plan> former_plan(const Request& request) const;
    bool depends_on_limits(const Request& request) const;
    bool shows_links(const Plan& plan) const;
    bool shows_links(Choice& choice, std::size_t number) const;
    bool is_worth_its_comms(const Plan& plan);
    LinkWatch* watch_of(const Request& request, std::size_t number, Entry& entry);
    bool have_links_changed(LinkWatch& links, const Choice& choice);
    void make_plans_anew(std::vector<CallTime> tried);
    void forget_plans(std::vector<CallTime> tried);
    void forget_steps();

    Process& process_;
    const Machine& machine_;
    MachineCosts costs_;
    LinksNow links_now_;
    std::unordered_map<CallClass, AlgorithmPtr, CallClassHash> former_;  // of choices, before links changed
    std::string agreed_rules_;
    Rules rules_;
    OwnComms& comms_;
    NativeCalls& native_calls_;
    int rank_;
    Adapting adapting_;
    int streams_;
    bool is_traced_;
    using Entries = std::unordered_map<Request, Entry, RequestHash>;
    Entries entries_;
    std::uint64_t entries_made_ = 0;
    Entries::value_type* last_ = nullptr;  ///< of entries_, that was found last: loops repeat one call
    std::unordered_map<Request, Outlook, RequestHash> outlooks_;  // what reports have asked for
    std::unordered_map<CallClass, Choice, CallClassHash> choices_;
    std::size_t choices_of_calls_ = 0;
    std::size_t cached_steps_ = 0;
    OwnCalls own_calls_;
    mutable std::optional<Trials::Conditions> conditions_;  // once they are needed
    std::vector<CallTime> forgotten_calls_;                 // of choices that were tried and dropped
    TrialSummary forgotten_trials_;                         // likewise
    Seconds cost_of_watching_{0};                           // links, on this rank
    int changes_of_links_ = 0;
    Seconds could_have_saved_{0};           // calls that were left to MPI
    std::optional<Seconds> cost_of_comms_;  // once it is needed
    bool starts_calls_ = false;             // that go on by themselves: plan_to_start()
    PreparedPlan left_to_mpi_;
};

}  // namespace laple::mpi
