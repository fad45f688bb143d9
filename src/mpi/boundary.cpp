// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/boundary.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "collectives/planner.hpp"
#include "mpi/comm_state.hpp"
#include "mpi/datatype.hpp"
#include "mpi/executor.hpp"
#include "mpi/log.hpp"
#include "mpi/process.hpp"
#include "mpi/quiet_comm.hpp"
#include "mpi/verification.hpp"

namespace laple::mpi {
namespace {

/// MPI_Pack counts in int, and every rank must decide alike whatever its datatype.
constexpr MPI_Count kMaxBytes = kMostPlannedBytes;

/// Adds one call to the report, if there is one. Looks at the clock only then.
class Recorder {
  public:
    Recorder(const CommState& state, Collective collective, Bytes bytes)
        : report_(state.report()), collective_(collective), bytes_(bytes) {
        if (report_ != nullptr) start_ = Clock::now();
    }
    /// The state may be gone: a user's error handler may free the communicator.
    void done(const std::string& algorithm) {
        if (report_ != nullptr) report_->add(collective_, bytes_, algorithm, Clock::now() - start_);
    }

  private:
    using Clock = std::chrono::steady_clock;
    Report* report_;
    Collective collective_;
    Bytes bytes_;
    Clock::time_point start_;
};

/// By MPI_Pcontrol.
std::atomic<bool> is_switched_off{false};

/// The state of a communicator on which LaPle has something to do: to treat calls, or to report them.
CommState* state_of(MPI_Comm comm) {
    if (is_disabled()) {
        remember_quiet(comm);
        return nullptr;
    }
    if (DyingComm::is_dying(comm)) return nullptr;
    CommState* state = CommState::of(comm);
    if (state != nullptr && state->heeds_pcontrol() && is_switched_off) {
        state->note_algorithm(kNativeName);
        return nullptr;
    }
    if (state != nullptr && state->has_work()) {
        state->count_call();
        return state;
    }
    if (state == nullptr || state->report() != nullptr) return state;
    state->note_algorithm(kNativeName);
    remember_quiet(comm);
    return nullptr;
}

/// A message's size for the report; 0 when nobody wants one, or when MPI is about to refuse the call.
Bytes reported_bytes(const CommState* state, MPI_Count count, MPI_Datatype type) {
    if (state == nullptr || state->report() == nullptr || count <= 0 || type == MPI_DATATYPE_NULL) return 0;
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<Bytes>(count) * static_cast<Bytes>(std::max(size, 0));
}

/// The end of each call that is not LaPle's.
int pass_on(const NativeCall& native, CommState* state, Collective collective, Bytes bytes) {
    if (state == nullptr) return native();
    Recorder recorder(*state, collective, bytes);
    state->note_algorithm(kNativeName);
    const int code = native();
    recorder.done(kNativeName);
    return code;
}

/// An error of an inner call becomes one of the user's communicator, as if its own call had failed.
int finish(int code, MPI_Comm comm) {
    if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
    return code;
}

/// The one exception that comes from LaPle. What a user's error handler or operation throws goes through.
int give_up(MPI_Comm comm) {
    try {
        say("a collective cannot go on: no memory is left; LAPLE_DISABLE=1 avoids LaPle");
    } catch (const std::bad_alloc&) {
        // Not even for that.
    }
    return finish(MPI_ERR_NO_MEM, comm);
}

/// A broadcast's data as plain bytes: in place where they are such already, else packed in memory of ours.
class PackedMessage {
  public:
    PackedMessage(void* buffer, int count, MPI_Datatype type, const TypeLayout& layout, CommState& state,
                  bool is_root)
        : buffer_(buffer),
          count_(count),
          type_(type),
          bytes_(static_cast<int>(layout.size * count)),
          comm_(state.shadow()),
          is_packed_(!layout.is_contiguous),
          must_unpack_(is_packed_ && !is_root) {
        if (!is_packed_) {
            data_ = static_cast<std::byte*>(buffer);
            return;
        }
        scratch_.emplace(ScratchPool::of_packing());
        data_ = (**scratch_).get(static_cast<std::size_t>(bytes_));
        int position = 0;
        if (!is_root) return;
        code_ = buffer == MPI_BOTTOM ? move(buffer, count, type, data_, bytes_, MPI_PACKED)
                                     : PMPI_Pack(buffer, count, type, data_, bytes_, &position, comm_);
    }

    std::byte* data() const { return data_; }
    int code() const { return code_; }

    /// To be called when the data are there.
    int unpack() const {
        if (!must_unpack_) return MPI_SUCCESS;
        int position = 0;
        return buffer_ == MPI_BOTTOM ? move(data_, bytes_, MPI_PACKED, buffer_, count_, type_)
                                     : PMPI_Unpack(data_, bytes_, &position, buffer_, count_, type_, comm_);
    }

  private:
    /// By a message to itself: MPICH's MPI_Pack and MPI_Unpack take no MPI_BOTTOM.
    int move(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
             MPI_Datatype to_type) const {
        constexpr int kPackTag = 3;
        int self = 0;
        PMPI_Comm_rank(comm_, &self);
        return PMPI_Sendrecv(from, from_count, from_type, self, kPackTag, to, to_count, to_type, self,
                             kPackTag, comm_, MPI_STATUS_IGNORE);
    }

    void* buffer_;
    int count_;
    MPI_Datatype type_;
    int bytes_;
    MPI_Comm comm_;
    bool is_packed_;
    bool must_unpack_;
    std::optional<ScratchPool::Lease> scratch_;
    std::byte* data_ = nullptr;
    int code_ = MPI_SUCCESS;
};

int run_bcast(CommState& state, const PreparedPlan& plan, void* buffer, MPI_Count count, MPI_Datatype type,
              const TypeLayout& layout, int root) {
    const PackedMessage message(buffer, static_cast<int>(count), type, layout, state, state.rank() == root);
    Operands operands;
    operands.code = message.code();
    operands.result = message.data();
    const int code = state.run(plan, operands);
    return code == MPI_SUCCESS ? message.unpack() : code;
}

/// Whether the arguments of a reduction are such that LaPle may treat it; equal on all ranks by MPI's rules.
bool may_treat_reduction(MPI_Count count, MPI_Datatype type, MPI_Op op) {
    if (count < 0 || type == MPI_DATATYPE_NULL || op == MPI_OP_NULL) return false;
    if (op == MPI_REPLACE || op == MPI_NO_OP) return false;
    return !is_predefined(op) || allows(op, type);
}

bool is_commutative(MPI_Op op) {
    int commutative = 1;
    if (!is_predefined(op)) PMPI_Op_commutative(op, &commutative);
    return commutative != 0;
}

/// Whether `buffer` cannot be one: MPI's own call says what is wrong. nullptr is MPI_BOTTOM, good for types
/// that hold addresses.
bool is_bad_buffer(const void* buffer, const TypeLayout& layout) {
    return buffer == MPI_IN_PLACE || (buffer == nullptr && layout.true_lb == 0);
}

/// MPI_Reduce and MPI_Allreduce from here on. `has_result` says whether this rank gets one.
int reduction(const NativeCall& native, Collective collective, CommState& state, const void* input,
              void* result, bool has_result, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm comm) {
    if (!may_treat_reduction(count, type, op)) return pass_on(native, &state, collective, 0);
    const TypeLayout layout = layout_of(type);
    if (layout.size > 0 && count > kMaxBytes / layout.size) return pass_on(native, &state, collective, 0);
    const bool is_in_place = input == MPI_IN_PLACE;
    const bool is_aliased = has_result && !is_in_place && input == result && result != MPI_BOTTOM;
    if (count > 0 && (is_aliased || (!is_in_place && is_bad_buffer(input, layout)) ||
                      (has_result && is_bad_buffer(result, layout)))) {
        return pass_on(native, &state, collective, 0);
    }
    const bool in_fixed_order = state.is_strict() && !is_exact(op, type);
    const Request request{collective,
                          static_cast<std::uint64_t>(count),
                          static_cast<Bytes>(layout.size),
                          root,
                          is_commutative(op),
                          in_fixed_order};
    const PreparedPlan& plan = state.plan_for(request);
    if (plan.is_native()) return pass_on(native, &state, collective, request.bytes());

    Recorder recorder(state, collective, request.bytes());
    Operands operands;
    operands.input = static_cast<const std::byte*>(is_in_place ? result : input);
    operands.result = static_cast<std::byte*>(result);
    operands.has_result = has_result;
    operands.type = type;
    operands.layout = layout;
    operands.op = op;
    std::optional<VerifiedReduction> verified;
    if (state.is_verified()) verified.emplace(operands, static_cast<int>(count), root, state.shadow());
    int code = state.run(plan, operands);
    recorder.done(plan.algorithm);
    state.note_algorithm(plan.algorithm);
    if (verified && code == MPI_SUCCESS) code = verified->compare(collective, plan.algorithm);
    state.look_at_network();
    return finish(code, comm);
}

}  // namespace

int bcast(const NativeCall& native, void* buffer, MPI_Count count, MPI_Datatype type, int root,
          MPI_Comm comm) try {
    CommState* state = state_of(comm);
    if (state == nullptr || !state->has_work() || count < 0 || type == MPI_DATATYPE_NULL || root < 0 ||
        root >= state->size()) {
        return pass_on(native, state, Collective::bcast, reported_bytes(state, count, type));
    }
    const TypeLayout layout = layout_of(type);
    if (layout.size > 0 && count > kMaxBytes / layout.size)
        return pass_on(native, state, Collective::bcast, 0);
    if (count > 0 && is_bad_buffer(buffer, layout)) return pass_on(native, state, Collective::bcast, 0);
    const Request request{Collective::bcast, static_cast<std::uint64_t>(count * layout.size), 1, root, true};
    const PreparedPlan& plan = state->plan_for(request);
    if (plan.is_native()) return pass_on(native, state, Collective::bcast, request.bytes());

    Recorder recorder(*state, Collective::bcast, request.bytes());
    int code = run_bcast(*state, plan, buffer, count, type, layout, root);
    recorder.done(plan.algorithm);
    state->note_algorithm(plan.algorithm);
    if (state->is_verified() && code == MPI_SUCCESS)
        code = verify_bcast(plan.algorithm, {buffer, static_cast<int>(count), type}, root, state->shadow());
    return finish(code, comm);
} catch (const std::bad_alloc&) {
    return give_up(comm);
}

int reduce(const NativeCall& native, const void* input, void* result, MPI_Count count, MPI_Datatype type,
           MPI_Op op, int root, MPI_Comm comm) try {
    CommState* state = state_of(comm);
    if (state == nullptr || !state->has_work() || root < 0 || root >= state->size()) {
        return pass_on(native, state, Collective::reduce, reported_bytes(state, count, type));
    }
    const bool is_root = state->rank() == root;
    if (input == MPI_IN_PLACE && !is_root) return pass_on(native, state, Collective::reduce, 0);
    return reduction(native, Collective::reduce, *state, input, result, is_root, count, type, op, root, comm);
} catch (const std::bad_alloc&) {
    return give_up(comm);
}

int allreduce(const NativeCall& native, const void* input, void* result, MPI_Count count, MPI_Datatype type,
              MPI_Op op, MPI_Comm comm) try {
    CommState* state = state_of(comm);
    if (state == nullptr || !state->has_work()) {
        return pass_on(native, state, Collective::allreduce, reported_bytes(state, count, type));
    }
    return reduction(native, Collective::allreduce, *state, input, result, true, count, type, op, 0, comm);
} catch (const std::bad_alloc&) {
    return give_up(comm);
}

int barrier(const NativeCall& native, MPI_Comm comm) try {
    CommState* state = state_of(comm);
    if (state == nullptr || !state->has_work()) return pass_on(native, state, Collective::barrier, 0);
    const PreparedPlan& plan = state->plan_for({Collective::barrier, 0, 1, 0, true});
    if (plan.is_native()) return pass_on(native, state, Collective::barrier, 0);
    Recorder recorder(*state, Collective::barrier, 0);
    const int code = state->run(plan, Operands{});
    recorder.done(plan.algorithm);
    state->note_algorithm(plan.algorithm);
    state->look_at_network();
    return finish(code, comm);
} catch (const std::bad_alloc&) {
    return give_up(comm);
}

void switch_by(int level) noexcept {
    is_switched_off = level == 0;
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
    if (PMPI_Bcast(rules.data(), size, MPI_CHAR, 0, state->shadow()) == MPI_SUCCESS)
        state->set_rules(rules.data());
} catch (const std::exception&) {
    // Not enough memory for another plan: the old ones hold on all ranks, or the next call says so.
}

}  // namespace laple::mpi
