// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/started.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mpi/call/arguments.hpp"
#include "mpi/call/call_record.hpp"
#include "mpi/call/call_run.hpp"
#include "mpi/call/pcontrol.hpp"
#include "mpi/call/requests.hpp"
#include "mpi/call/startable_call.hpp"
#include "mpi/comm/comm_state.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/process.hpp"
#include "mpi/comm/progress_engine.hpp"
#include "mpi/comm/report.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/exec/transport.hpp"

namespace laple::mpi {
namespace {

/// One start of a call, until it is complete.
class Started final : public StartedCall {
  public:
    /// `ways`: for this start; `number`: of CommState::start_call(), nothing for persistent calls. Packs.
    Started(std::shared_ptr<const StartableCall> call, MPI_Request request, Ways ways,
            std::optional<std::uint64_t> number)
        : call_(std::move(call)),
          request_(request),
          arguments_(call_->arguments),
          ways_(std::move(ways)),
          number_(number),
          record_(state(), {arguments_.request.collective, call_->function, bytes_for_report(arguments_)},
                  *call_->plan),
          run_(*call_->plan, arguments_, call_->state->rank(), call_->state->size(), ways_,
               number_ ? record_.times() : nullptr) {}

    bool progress() noexcept override;

  private:
    CommState& state() const { return *call_->state; }

    std::shared_ptr<const StartableCall> call_;
    MPI_Request request_;
    Arguments arguments_;
    Ways ways_;
    std::optional<std::uint64_t> number_;
    CallRecord record_;
    CallRun run_;
};

/// Calls whose tags an earlier one has still in use wait for it (OwnComms::ways_of_started).
bool Started::progress() noexcept try {
    if (number_ && !state().may_begin(*number_)) return false;
    run_.progress();
    if (!run_.is_complete()) return false;
    const int code = run_.finish();
    if (code != MPI_SUCCESS) state().explain(code);
    record_.done(state(), *call_->plan, number_ ? CallRecord::number_of_started(*number_) : 0);
    if (number_) state().complete_call(*number_);
    const MPI_Comm users = state().users();
    if (code != MPI_SUCCESS && users != MPI_COMM_NULL) PMPI_Comm_call_errhandler(users, code);
    const bool is_given_up = Requests::get().complete(request_);
    call_->request.complete(code);
    if (is_given_up) PMPI_Request_free(&request_);
    return true;
} catch (const std::bad_alloc&) {
    end_without_memory("a collective that was started cannot go on");
    return true;
}

/// The state of the call's communicator where LaPle may do something with calls that are started. `find`: how
/// it is found. `why_not`: for people.
CommState* state_for(const Call& call, CommState* (*find)(MPI_Comm comm), std::string_view& why_not) {
    if (is_disabled() || call.comm == MPI_COMM_NULL) return nullptr;
    CommState* state = find(call.comm);
    if (state == nullptr) return nullptr;
    if (!state->has_work()) {
        why_not = state->why_idle();
    } else if (state->is_profiled()) {
        why_not = "";  // what LaPle would do is not known
    } else if (!state->has_progress()) {
        why_not = "nothing lets it go on beside the program here; LAPLE_PROGRESS=thread does";
    } else if (state->heeds_pcontrol() && is_switched_off) {
        why_not = "MPI_Pcontrol(0)";
    } else {
        return state;
    }
    return nullptr;
}

/// MPI does it. A report counts it, on communicators that are not set up, too, but cannot see how long it
/// takes. `why`: for people.
int pass_on(const Call& call, std::string_view why) {
    if (is_disabled() || call.comm == MPI_COMM_NULL) return call.native();
    CommState* const state = CommState::find(call.comm);
    if (state != nullptr) state->note_algorithm(kNativeCall);
    Process* const process = state != nullptr ? state->process() : Process::get();
    Report* const report = process != nullptr ? process->report() : nullptr;
    if (report != nullptr) {
        // There the root is none of this rank's group, and says nothing of which buffers there are.
        const bool is_inter = state == nullptr && is_between_groups(call.comm);
        if (state == nullptr)
            why = is_inter ? kBetweenGroups : "no blocking collective came before it on its communicator";
        const Bytes bytes = is_inter ? 0 : reported_bytes(call, rank_in(call.comm));
        report->add(call.collective, call.function, bytes, kNativeCall, Seconds(0),
                    {.reason = std::string(why)});
    }
    return call.native();
}

/// After MPI has begun its request.
void run_if_persistent(MPI_Request request) noexcept try {
    auto persistent = Requests::get().start(request);
    if (!persistent) return;
    ProgressEngine::get().add(std::make_unique<Started>(std::move(persistent->call), request,
                                                        std::move(persistent->ways), std::nullopt));
} catch (const std::bad_alloc&) {
    end_without_memory("a persistent collective cannot be started");
}

/// What a program must not do with a request, as MPI raises it.
int refuse(const char* function) {
    say(std::string(function) + ": a non-blocking collective must be completed, by MPI_Wait or MPI_Test");
    PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_REQUEST);
    return MPI_ERR_REQUEST;
}

/// What LaPle can start of it, by MPI's rules alike on all ranks. nullptr: MPI does it. `wait`: for other
/// ranks, where that is needed before the call can be started. `why_not`: for people.
std::shared_ptr<const StartableCall> startable(const Call& call, CommState* state, PlanCache::Wait wait,
                                               std::string_view& why_not) {
    Arguments arguments;
    if (state == nullptr) return nullptr;
    why_not = kNotTakenReason;
    if (!find_arguments(call, *state, arguments)) return nullptr;
    why_not = "its operation is the program's, which LaPle's thread would call beside those of the program";
    const MPI_Op op = arguments.operands.op;
    if (op != MPI_OP_NULL && !is_predefined(op) && state->may_race()) return nullptr;
    auto plan = state->plan_to_start(arguments.request, wait, why_not);
    if (plan == nullptr) return nullptr;
    return std::make_shared<const StartableCall>(state->shared(), std::move(plan), std::move(arguments),
                                                 call.function);
}

/// After MPI has begun its request, which nothing else completes.
void begin(std::shared_ptr<const StartableCall> call, CommState& state, MPI_Request request) noexcept try {
    Requests::get().add(request);
    auto [number, ways] = state.start_call();
    ProgressEngine::get().add(std::make_unique<Started>(std::move(call), request, std::move(ways), number));
} catch (const std::bad_alloc&) {
    end_without_memory("a collective cannot be started");
}

int no_memory(MPI_Comm comm) {
    say("a collective cannot be started: no memory is left; LAPLE_DISABLE=1 avoids LaPle");
    return PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM;
}

}  // namespace

int start(const Call& call, MPI_Request* request) try {
    std::string_view why_not;
    CommState* state = request != nullptr ? state_for(call, CommState::find, why_not) : nullptr;
    auto startable_call = startable(call, state, PlanCache::Wait::no, why_not);
    if (startable_call == nullptr) return pass_on(call, why_not);
    state->note_algorithm(startable_call->plan->algorithm);
    const int code = startable_call->request.start(*request);
    if (code != MPI_SUCCESS) return code;
    begin(std::move(startable_call), *state, *request);
    return MPI_SUCCESS;
} catch (const std::bad_alloc&) {
    return no_memory(call.comm);
}

int init(const Call& call, MPI_Request* request) try {
    std::string_view why_not;
    CommState* state = request != nullptr ? state_for(call, CommState::of, why_not) : nullptr;
    auto startable_call = startable(call, state, PlanCache::Wait::yes, why_not);
    auto ways = startable_call != nullptr ? state->init_call() : std::nullopt;
    if (!ways)
        return pass_on(call, startable_call != nullptr
                                 ? "MPI has no tag left for one more persistent call on its communicator"
                                 : why_not);
    state->note_algorithm(startable_call->plan->algorithm);
    const int code = startable_call->request.init(*request);
    if (code == MPI_SUCCESS) Requests::get().add(*request, {std::move(startable_call), std::move(*ways)});
    return code;
} catch (const std::bad_alloc&) {
    return no_memory(call.comm);
}

int start_persistent(MPI_Request* request) {
    const int code = PMPI_Start(request);
    if (code == MPI_SUCCESS && !Requests::get().is_empty()) run_if_persistent(*request);
    return code;
}

int start_all_persistent(int count, MPI_Request* requests) {
    const int code = PMPI_Startall(count, requests);
    if (code != MPI_SUCCESS || Requests::get().is_empty()) return code;
    for (int i = 0; i < count; ++i) run_if_persistent(requests[i]);
    return code;
}

int free_request(MPI_Request* request) {
    if (request == nullptr || Requests::get().is_empty()) return PMPI_Request_free(request);
    switch (Requests::get().free(*request)) {
        case Requests::Free::never:
            return refuse("MPI_Request_free");
        case Requests::Free::when_complete:
            *request = MPI_REQUEST_NULL;
            return MPI_SUCCESS;
        default:
            return PMPI_Request_free(request);
    }
}

int cancel(MPI_Request* request) {
    const bool is_ours =
        request != nullptr && !Requests::get().is_empty() && Requests::get().is_under_way(*request);
    return is_ours ? refuse("MPI_Cancel") : PMPI_Cancel(request);
}

}  // namespace laple::mpi
