// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/treat.hpp"

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "mpi/call/arguments.hpp"
#include "mpi/call/call_record.hpp"
#include "mpi/call/call_run.hpp"
#include "mpi/call/pcontrol.hpp"
#include "mpi/call/verification.hpp"
#include "mpi/comm/bypass.hpp"
#include "mpi/comm/comm_state.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/process.hpp"
#include "mpi/comm/report.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

/// The state of a communicator on which LaPle has something to do: to treat calls, or to report them.
CommState* state_of(MPI_Comm comm) {
    if (is_disabled()) {
        remember_bypass(comm);
        return nullptr;
    }
    CommState* state = CommState::of(comm);
    if (state != nullptr && state->heeds_pcontrol() && is_switched_off) {
        state->note_algorithm(kNativeCall);
        return nullptr;
    }
    if (state != nullptr && state->has_work()) {
        state->count_call();
        return state;
    }
    if (state != nullptr && !state->is_observed()) {
        state->note_algorithm(kNativeCall);
        remember_bypass(comm);
    }
    return state;
}

/// Of calls of which nothing was known before.
const Expectation kUnknown;
const Expectation kNotTaken{.reason = kNotTakenReason};

/// Passes a call on to MPI.
int pass_on(const Call& call, CommState* state, Bytes bytes, const Expectation& expected = kUnknown) {
    if (state == nullptr) return call.native();
    // A user's error handler may free the communicator, and with it the plan that `expected` is part of.
    const auto kept = state->is_observed() ? state->shared() : nullptr;
    CallRecord record(*state, {call.collective, call.function, bytes}, kNativeCall);
    state->note_algorithm(kNativeCall);
    const int code = call.native();
    record.done(kNativeCall, expected);
    return code;
}

CallKey key_of(const Call& call) {
    return {call.collective,  call.input.data == MPI_IN_PLACE,
            call.input.count, call.result.count,
            call.input.type,  call.result.type,
            call.op,          call.root};
}

/// An error of an inner call becomes one of the user's communicator, as if its own call had failed.
int finish(int code, MPI_Comm comm) {
    if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
    return code;
}

/// Ranks may not all have met an error, and a comparison takes all of them. Collective.
bool has_failed_somewhere(int code, MPI_Comm inner) {
    const int mine = code == MPI_SUCCESS ? 0 : 1;
    int any = 1;
    return PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, inner) != MPI_SUCCESS || any != 0;
}

/// For std::bad_alloc, the only exception of LaPle's own. What a user's error handler or operation throws is
/// passed through.
int give_up(MPI_Comm comm) {
    try {
        say("a collective cannot go on: no memory is left; LAPLE_DISABLE=1 avoids LaPle");
    } catch (const std::bad_alloc&) {
        // Not even enough for the message.
    }
    return finish(MPI_ERR_NO_MEM, comm);
}

/// Passes a call on whose communicator LaPle leaves alone. A report counts it.
int pass_on_unseen(const Call& call) {
    Process* const process = is_disabled() || call.comm == MPI_COMM_NULL ? nullptr : Process::get();
    Report* const report = process != nullptr ? process->report() : nullptr;
    if (report == nullptr) return call.native();
    const bool is_inter = is_between_groups(call.comm);
    const char* const why = is_inter          ? kBetweenGroups
                            : is_switched_off ? "MPI_Pcontrol(0)"
                                              : "its communicator is being freed";
    const Bytes bytes = is_inter ? 0 : reported_bytes(call, rank_in(call.comm));
    const Seconds start = now();
    const int code = call.native();
    report->add(call.collective, call.function, bytes, kNativeCall, now() - start, {.reason = why});
    return code;
}

/// MPI's own call, for comparison. An error is the user's after the ranks have agreed.
int time_native(const Call& call, CommState& state, Trials& trials, const Expectation& expected,
                Bytes bytes) {
    int code = MPI_SUCCESS;
    {
        const ReturnErrors guard(call.comm);
        const Seconds early = now();
        state.come_together();
        const Seconds start = now();
        code = pass_on(call, &state, bytes, expected);
        trials.add(now() - start, start - early);
        state.conclude(trials);
    }
    return finish(code, call.comm);
}

/// Whether nobody sees that a reduction was done twice. The memory for its result is bounded. Predefined
/// operations take named types only.
bool may_be_repeated(const Call& call, const Arguments& arguments) {
    constexpr Bytes kMost = 64U << 20;
    const Request& request = arguments.request;
    // Without a copy of the input there is nothing to begin with once more; and where ranks have counts, they
    // need not all be in place.
    if (is_combined_in_parts(request.collective) && (arguments.is_in_place || call.has_blocks)) return false;
    return request.rounds && is_predefined(arguments.operands.op) && request.bytes() <= kMost;
}

/// MPI does it; the report says what LaPle would have done.
int profile(const Call& call, CommState& state) {
    Arguments arguments;
    if (!find_arguments(call, state, arguments)) return pass_on(call, &state, 0);
    const Bytes bytes = bytes_for_report(arguments);
    const auto outlook = state.outlook(arguments.request, bytes);
    CallRecord record(state, {call.collective, call.function, bytes}, kNativeCall);
    state.note_algorithm(kNativeCall);
    const int code = call.native();
    record.done(outlook.algorithm, outlook.expected);
    return code;
}

/// Without a look at the blocks, which takes longer than short calls do.
bool is_native_whatever_its_counts(const Call& call, CommState& state) {
    const CollectiveRow& row = row_of(call.collective);
    const bool is_varied = call.has_blocks && row.is_personalized;
    if (!is_varied || state.is_observed() || (row.is_rooted && (call.root < 0 || call.root >= state.size())))
        return false;
    const Request request = varied_request(call.collective, row.is_rooted ? call.root : 0);
    return state.next(request, false).plan->is_native();
}

}  // namespace

int treat(const Call& call) try {
    CommState* state = state_of(call.comm);
    if (state == nullptr) return pass_on_unseen(call);
    if (!state->has_work()) {
        return state->is_observed()
                   ? pass_on(call, state, reported_bytes(call, state->rank()), {.reason = state->why_idle()})
                   : call.native();
    }
    if (state->is_profiled()) return profile(call, *state);
    if (!call.has_blocks && state->native_calls().contains(key_of(call))) return pass_on(call, state, 0);
    if (is_native_whatever_its_counts(call, *state)) return pass_on(call, state, 0);
    Arguments arguments;
    if (!find_arguments(call, *state, arguments)) return pass_on(call, state, 0, kNotTaken);
    const Request& request = arguments.request;
    auto [plan, trials, beside, links, is_for_good] = state->next(request, may_be_repeated(call, arguments));
    if (beside != nullptr)
        state->time_beside(*beside, request, arguments.operands, *std::exchange(trials, nullptr));
    if (plan->is_native()) {
        if (trials != nullptr) return time_native(call, *state, *trials, plan->expected, request.bytes());
        // Who observes calls wants the bytes, too.
        if (is_for_good && !state->is_observed() && has_lasting_handles(call, state->rank()))
            state->native_calls().add(key_of(call));
        return pass_on(call, state, bytes_for_report(arguments), plan->expected);
    }

    std::unique_ptr<Verification> verification;
    if (state->is_verified() && row_of(call.collective).has_data)
        verification = verification_of(call, arguments, state->inner());
    const Seconds early = trials != nullptr ? now() : Seconds(0);
    if (trials != nullptr) state->come_together();
    CallRecord record(*state, {call.collective, call.function, bytes_for_report(arguments), true}, *plan);
    const std::uint64_t number = CallRecord::number_of_blocking(*state);
    const Seconds start = trials != nullptr ? now() : Seconds(0);
    StepTimes own_times;
    StepTimes* const times = record.times() != nullptr || links == nullptr ? record.times() : &own_times;
    int code = MPI_SUCCESS;
    {
        // Its end tells the ranks of this host that this one has left the call. What follows may wait for
        // them, and the user's error handler may free the communicator.
        CallRun run(*plan, arguments, state->rank(), state->size(), state->ways(), times);
        state->watch(*plan, [&] { return run.to_end(); });
        code = run.finish();
    }
    if (links != nullptr) links->add(*times);
    if (trials != nullptr) trials->add(now() - start, start - early);
    record.done(*state, *plan, number);
    state->note_algorithm(plan->algorithm);
    if (verification && (request.is_varied || !has_failed_somewhere(code, state->inner()))) {
        const int compared = verification->compare(plan->algorithm);
        if (code == MPI_SUCCESS) code = compared;
    }
    if (trials != nullptr) state->conclude(*trials);
    state->check_network();
    return finish(code, call.comm);
} catch (const std::bad_alloc&) {
    return give_up(call.comm);
}

void heed_info(MPI_Comm comm, MPI_Info info) noexcept try {
    std::array<char, MPI_MAX_INFO_VAL + 1> rules{};
    int is_there = 0;
    if (comm == MPI_COMM_NULL || info == MPI_INFO_NULL || is_disabled()) return;
    if (PMPI_Info_get(info, "laple_algorithm", MPI_MAX_INFO_VAL, rules.data(), &is_there) != MPI_SUCCESS ||
        is_there == 0) {
        return;
    }
    CommState* state = CommState::of(comm);
    if (state == nullptr || !state->has_work()) return;
    const int size = static_cast<int>(rules.size());
    if (PMPI_Bcast(rules.data(), size, MPI_CHAR, 0, comm) == MPI_SUCCESS) state->set_rules(rules.data());
} catch (const std::exception&) {
    end_without_memory("an info key cannot be heeded");
}

}  // namespace laple::mpi
