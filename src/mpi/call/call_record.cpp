// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/call_record.hpp"

#include <utility>

#include "mpi/comm/process.hpp"
#include "mpi/exec/transport.hpp"

namespace laple::mpi {

CallRecord::CallRecord(CommState& state, const Subject& subject, const std::string& algorithm)
    : CallRecord(state, subject, subject.bytes, algorithm) {}

/// `common_bytes`: equal on all ranks where LaPle does the call.
CallRecord::CallRecord(CommState& state, const Subject& subject, Bytes common_bytes,
                       const std::string& algorithm)
    : report_(state.report()), subject_(subject), is_of_all_ranks_(state.has_all_ranks()) {
    if (!state.is_observed()) return;
    if (CommTrace* const trace = state.trace(); trace != nullptr && state.process() != nullptr) {
        trace_ = state.process()->trace();
        is_traced_ = trace->wants(subject.function, common_bytes, algorithm);
    }
    start_ = clock_time();
}

CallRecord::CallRecord(CommState& state, const Subject& subject, const PreparedPlan& plan)
    : CallRecord(state, subject, plan.blocks != nullptr ? 0 : subject.bytes, plan.algorithm) {
    if (report_ == nullptr && !is_traced_) return;
    expected_ = state.expected(plan, subject.collective, subject.bytes, subject.is_blocking);
    start_ = clock_time();
}

TracedCall CallRecord::traced_call(const std::string& algorithm, const Expectation& expected,
                                   Seconds end) const {
    TracedCall call;
    call.function = subject_.function;
    call.bytes = subject_.bytes;
    call.algorithm = algorithm;
    call.predicted = expected.predicted;
    call.native = expected.native;
    call.begin = start_;
    call.end = end;
    return call;
}

void CallRecord::done(const std::string& algorithm, const Expectation& expected) {
    if (report_ == nullptr && !is_traced_) return;
    const Seconds end = clock_time();
    if (report_ != nullptr)
        report_->add(subject_.collective, subject_.function, subject_.bytes, algorithm, end - start_,
                     expected, Report::DoneBy::mpi, is_of_all_ranks_);
    if (is_traced_) trace_->add(traced_call(kNativeCall, expected, end));
}

void CallRecord::done(CommState& state, const PreparedPlan& plan, std::uint64_t number) {
    if (report_ == nullptr && !is_traced_) return;
    const Seconds end = clock_time();
    if (report_ != nullptr)
        report_->add(subject_.collective, subject_.function, subject_.bytes, plan.algorithm, end - start_,
                     expected_);
    if (!is_traced_ || state.trace() == nullptr) return;
    TracedCall call = traced_call(plan.algorithm, expected_, end);
    call.number = number;
    if (number != 0) call.simulate = plan.simulate;
    state.trace()->add(std::move(call), number != 0 ? &times_ : nullptr, plan.routes.get());
}

std::uint64_t CallRecord::number_of_blocking(CommState& state) {
    return state.trace() != nullptr ? state.trace()->next_number() : 0;
}

}  // namespace laple::mpi
