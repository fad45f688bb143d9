// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>

#include "collectives/planner/slowness_watch.hpp"
#include "mpi/comm/call_numbers.hpp"
#include "mpi/comm/native_calls.hpp"
#include "mpi/comm/own_comms.hpp"
#include "mpi/comm/plan_cache.hpp"
#include "mpi/comm/trace.hpp"
#include "mpi/exec/operation.hpp"
#include "mpi/exec/transport.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

class Process;
class Report;

/// What LaPle knows of one communicator. Hangs on an attribute of it: gone when the communicator is freed,
/// absent in its duplicates. Set up collectively, at the first collective call on the communicator.
class CommState {
  public:
    /// The state of `comm`, set up if this is its first collective. nullptr where LaPle has nothing to do
    /// with it: MPI not running, intercommunicators, MPI_COMM_NULL. Collective on `comm` the first time.
    static CommState* of(MPI_Comm comm);
    /// The state if there is one; local.
    static CommState* find(MPI_Comm comm);
    /// To be called before `comm` is freed: takes leave of it while MPI holds no lock. MPI itself deletes
    /// attributes when the last request on a communicator is complete, which may be in a later call that
    /// waits.
    static void end(MPI_Comm comm);

    ~CommState();
    CommState(const CommState&) = delete;
    CommState& operator=(const CommState&) = delete;

    /// Whether LaPle treats calls here: something is known of the network between its ranks, or of their
    /// host's memory, or they want reductions in one fixed order. Else every call is MPI's own.
    bool has_work() const { return plans_.has_value(); }
    /// Why not, for people.
    const char* why_idle() const { return why_idle_; }
    /// Whether reductions that round have the bits of one tree over the ranks (LAPLE_REPRODUCIBLE=strict).
    bool is_strict() const { return is_strict_; }
    /// Whether each result is compared with that of MPI's own call (LAPLE_VERIFY).
    bool is_verified() const { return is_verified_; }
    /// Whether all calls are left to MPI, and only the report says what LaPle would do (LAPLE_PROFILE).
    bool is_profiled() const { return is_profiled_; }
    /// What LaPle would do there (PlanCache::outlook); nothing is made ready for it.
    PlanCache::Outlook outlook(const Request& request, Bytes bytes) {
        return plans_->outlook(request, bytes);
    }
    /// What is expected of a call by `plan` whose blocks have `bytes` on the average. `is_blocking`: next()
    /// has just given it. Other threads may start calls meanwhile, which do not look at plans.
    Expectation expected(const PreparedPlan& plan, Collective collective, Bytes bytes, bool is_blocking) {
        if (plan.blocks != nullptr)
            return plans_->expected_of_blocks(collective, bytes, plan.expected.reason);
        return is_blocking ? plans_->expected_now(plan) : plan.expected;
    }
    /// Whether calls that are started go on by themselves, on all ranks (ProgressEngine::is_there).
    bool has_progress() const { return has_progress_; }
    /// Some rank allows threads to call MPI at the same time.
    bool may_race() const { return may_race_; }
    int rank() const { return rank_; }
    int size() const { return size_; }
    /// The program's communicator; MPI_COMM_NULL when it has freed that, and calls are still under way.
    MPI_Comm users() const { return users_; }
    /// Keeps this while calls are under way, or may be started again.
    std::shared_ptr<CommState> shared() const { return self_; }
    /// LaPle's own; made with the first plan that is not native, or while ranks agree.
    MPI_Comm inner() const { return comms_.inner(); }
    const Machine& machine() const { return machine_; }
    /// Whether that tells who is near whom, and not only who there is.
    bool is_machine_known() const { return is_machine_known_; }
    /// nullptr once MPI_Finalize has begun.
    Process* process() const { return process_; }
    /// nullptr when nobody wants one.
    Report* report() const;

    /// nullptr when calls are not traced (LAPLE_TRACE).
    CommTrace* trace() { return trace_ ? &*trace_ : nullptr; }
    /// Whether somebody wants to know of calls with which LaPle has nothing to do.
    bool is_observed() const { return report() != nullptr || trace_; }

    /// Whether MPI_Pcontrol(0) leaves its calls to MPI (LAPLE_PCONTROL).
    bool heeds_pcontrol() const { return heeds_pcontrol_; }

    /// Rules as those of LAPLE_ALGORITHM, for this communicator alone and from now on; "default": as the
    /// environment has them. What is wrong is said, and nothing changed. To be called on all ranks alike.
    void set_rules(const std::string& rules);

    /// What the next call for `request` does (PlanCache::next). Equal on all ranks.
    PlanCache::Next next(const Request& request, bool may_be_repeated) {
        last_algorithm_ = nullptr;  // it may be the name of a plan that is dropped for a new one
        return plans_->next(request, may_be_repeated);
    }

    /// As PlanCache has it.
    std::shared_ptr<const PreparedPlan> plan_to_start(const Request& request, PlanCache::Wait wait,
                                                      std::string_view& why_not) {
        last_algorithm_ = nullptr;
        return plans_->plan_to_start(request, wait, why_not);
    }
    /// A call that is started now: its number, and where its messages go. To be called on all ranks in the
    /// same order.
    std::pair<std::uint64_t, Ways> start_call() {
        const std::uint64_t number = numbers_.add();
        return {number, comms_.ways_of_started(number)};
    }
    /// Whether no earlier call has its tags. For all threads, as the next.
    bool may_begin(std::uint64_t number) const {
        return number - numbers_.oldest() < comms_.started_at_a_time();
    }
    void complete_call(std::uint64_t number) { numbers_.complete(number); }
    /// Where messages of a persistent call go; nothing where there are too many of them. To be called on all
    /// ranks in the same order.
    std::optional<Ways> init_call() { return comms_.ways_of_persistent(persistent_calls_++); }

    /// Lets all ranks go on at about the same time, before a call that is timed. Collective.
    void come_together();
    /// Times a reduction by `plan`, whose operands are those of the user's own, and throws its result away:
    /// the user's call comes after it, and has its memory. Collective.
    void time_beside(const PreparedPlan& plan, const Request& request, Operands operands, Trials& trials);
    /// To be called after each call that was timed, when nothing of it is left to do: the ranks agree on
    /// times when there are enough. Collective when it does.
    void conclude(Trials& trials) noexcept;

    /// To be called before each operation, on all ranks alike: messages that an operation has left
    /// because a rank made it wrongly are not taken for those of the next ones.
    void count_call() { comms_.change_tags(); }

    /// Where messages of the operation that is under way go.
    const Ways& ways() const { return comms_.ways(); }
    /// Returns what `run` does, a run of `plan`: MPI's error code. It is timed where SlownessWatch looks at
    /// it.
    template <typename Run>
    int watch(const PreparedPlan& plan, Run run) {
        const bool is_timed = has_all_ranks_ && plan.watched_prediction > Seconds(0);
        const Seconds start = is_timed ? clock_time() : Seconds(0);
        const int code = run();
        if (is_timed) is_check_due_ = slowness_.add(plan.watched_prediction, clock_time() - start);
        if (code != MPI_SUCCESS) explain(code);
        return code;
    }
    /// Says why a collective has ended with an error, as far as LaPle knows more than MPI.
    void explain(int code);

    /// To be called after each call that ran a plan, when nothing of it is left to do: looks now and then
    /// whether the network is still what plans suppose, and says so if it is not. Collective when it does.
    void check_network() noexcept;

    TrialSummary trial_summary() const { return plans_ ? plans_->trial_summary() : TrialSummary(); }

    /// Whether its ranks are those of MPI_COMM_WORLD, in that order.
    bool is_like_world() const { return is_like_world_; }
    /// Of the job, in any order.
    bool has_all_ranks() const { return has_all_ranks_; }
    std::vector<CallTime> tried_calls() const {
        return plans_ ? plans_->tried_calls() : std::vector<CallTime>();
    }

    /// Calls that need no plan any more: MPI's own.
    NativeCalls& native_calls() { return native_calls_; }

    void note_algorithm(const std::string& name) { last_algorithm_ = &name; }
    const std::string* last_algorithm() const { return last_algorithm_; }

    /// MPI_Finalize has begun: frees what MPI holds for LaPle while MPI is still there. All calls are MPI's
    /// own from then on.
    void detach_from_process();
    /// The program frees the communicator: this is gone when no call is under way any more.
    void leave();

  private:
    CommState(Process& process, MPI_Comm comm);
    void set_up(MPI_Comm comm);
    void share_memory(const std::vector<int>& host_of, const std::vector<Rank>& in_world);
    int run_unwatched(const PreparedPlan& plan, const Operands& operands);
    const PreparedPlan& barrier();
    bool find_longest(std::vector<double>& times);

    std::shared_ptr<CommState> self_;
    std::atomic<MPI_Comm> users_;
    Process* process_;
    int rank_ = 0;
    int size_ = 0;
    Machine machine_ = Machine(Topology::flat(0));
    const char* why_idle_ = "";
    bool is_strict_ = false;
    bool is_verified_ = false;
    bool is_profiled_ = false;
    bool is_machine_known_ = false;
    bool has_progress_ = false;
    bool may_race_ = false;
    bool heeds_pcontrol_ = false;
    std::optional<CommTrace> trace_;
    OwnComms comms_;
    CallNumbers numbers_;  // of calls that are started
    std::uint64_t persistent_calls_ = 0;
    NativeCalls native_calls_;
    std::optional<PlanCache> plans_;  // where there is work
    bool has_all_ranks_ = false;
    bool is_like_world_ = false;
    bool is_check_due_ = false;
    SlownessWatch slowness_;
    std::optional<PreparedPlan> barrier_;  // for looking at the network and at calls; made when first needed
    std::optional<PreparedPlan> agreement_;  // on times, as many as there are in a round at most
    const std::string* last_algorithm_ = nullptr;
};

}  // namespace laple::mpi
