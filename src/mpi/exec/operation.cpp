// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/operation.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "mpi/exec/communicator.hpp"
#include "mpi/exec/transport.hpp"

namespace laple::mpi {
Operation::Operation(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
                     const StreamRoutes* routes, Scratch& scratch, StepTimes* times)
    : prepared_(prepared),
      schedule_(prepared.schedule),
      operands_(operands),
      ways_(ways),
      routes_(routes),
      scratch_(scratch),
      times_(times),
      memory_(schedule_, operands_, scratch),
      cluster_calls_(memory_, operands_, ways),
      waits_(scratch.lists().waits),
      ready_(scratch.lists().ready),
      pacer_(schedule_.seconds_per_unit, schedule_.ahead, scratch.lists().paced) {
    restart();
}

/// Whether its peers learn of an error by what this rank sends. Where it only receives, they wait until it
/// has.
bool Operation::has_sends() const {
    return std::any_of(schedule_.steps.begin(), schedule_.steps.end(), [](const Step& step) {
        return step.kind == StepKind::send || step.kind == StepKind::native_bcast;
    });
}

void Operation::restart() {
    const bool is_only_own_block_wrong = operands_.code == MPI_ERR_TRUNCATE && !has_sends();
    error_ = is_only_own_block_wrong ? MPI_SUCCESS : operands_.code;
    done_ = next_ready_ = 0;
    waits_ = prepared_.graph.waits();
    ready_.clear();
    pacer_.restart();
    ready_.reserve(schedule_.steps.size());
    channel_.emplace(prepared_, operands_, ways_, routes_, scratch_);
    for (std::uint32_t i = 0; i < waits_.size(); ++i) {
        if (waits_[i] == 0) ready_.push_back(i);
    }
    if (error_ != MPI_SUCCESS) abandon();
}

void Operation::progress() {
    while (!is_complete()) {
        start_ready();
        start_paced_or_abandon();
        if (is_complete() || channel_->is_idle()) return;
        const auto completion = channel_->look();
        if (!completion) return;
        take(*completion);
    }
}

int Operation::to_end() try {
    while (!is_complete()) {
        start_ready();
        if (!is_complete()) wait();
    }
    return code();
} catch (const std::bad_alloc&) {
    check(MPI_ERR_NO_MEM);
    abandon();
    return code();
}

/// Until something has completed, or a paced send may start.
void Operation::wait() {
    if (!pacer_.has_waiting()) {
        if (!channel_->is_idle()) take(channel_->wait());
        return;
    }
    const auto completion = channel_->is_idle() ? std::nullopt : channel_->look();
    if (completion) return take(*completion);
    let_time_pass(pacer_.time_left());
    start_paced_or_abandon();
}

void Operation::start_paced_or_abandon() {
    if (is_complete()) return;
    start_paced();
    if (error_ != MPI_SUCCESS) abandon();
}

void Operation::start_paced() {
    while (error_ == MPI_SUCCESS && pacer_.has_waiting() && pacer_.time_left() <= Seconds(0)) {
        const std::uint32_t step = pacer_.front();
        pacer_.pop(schedule_.steps[step].units);
        start(step);
    }
}

void Operation::start_ready() {
    while (next_ready_ < ready_.size() && error_ == MPI_SUCCESS) {
        const std::uint32_t step = ready_[next_ready_++];
        if (schedule_.steps[step].is_paced) {
            pacer_.add(step);
        } else {
            start(step);
        }
        if (next_ready_ == ready_.size()) start_paced();
    }
    if (error_ != MPI_SUCCESS) abandon();
}

void Operation::take(const Channel::Completion& completion) {
    check(completion.code);
    if (error_ != MPI_SUCCESS) return abandon();
    complete(completion.step);
}

Transfer Operation::transfer(const Step& step, Place place) const {
    return {memory_.address(place), memory_.count_of(step), operands_.type, step.peer,
            ways_.first_tag + step.channel};
}

void Operation::start(std::uint32_t index) {
    const Step& step = schedule_.steps[index];
    if (times_ != nullptr) note_begin(index);
    switch (step.kind) {
        case StepKind::send:
            check(channel_->send(index, transfer(step, step.from)));
            if (error_ != MPI_SUCCESS) return channel_->send_nothing(transfer(step, step.from));
            return has_started(index);
        case StepKind::recv:
            check(channel_->recv(index, transfer(step, step.to)));
            return has_started(index);
        case StepKind::copy:
            copy(step);
            break;
        case StepKind::reduce:
            reduce(step);
            break;
        case StepKind::native_bcast:
            check(cluster_calls_.bcast(step));
            break;
        case StepKind::native_reduce:
            check(cluster_calls_.reduce(step));
            break;
    }
    complete(index);
}

/// The next message of its channel may start, too.
void Operation::has_started(std::uint32_t index) {
    const std::int64_t next = schedule_.steps[index].next_in_channel;
    if (next >= 0) release(static_cast<std::uint32_t>(next));
}

void Operation::complete(std::uint32_t index) {
    if (times_ != nullptr) times_->end(index);
    ++done_;
    for (const std::uint32_t successor : prepared_.graph.successors(index)) release(successor);
}

void Operation::release(std::uint32_t index) {
    if (--waits_[index] == 0) ready_.push_back(index);
}

void Operation::note_begin(std::uint32_t index) {
    const Step& step = schedule_.steps[index];
    const Place place = step.kind == StepKind::recv ? step.to : step.from;
    StepTime time;
    time.kind = step.kind;
    time.channel = step.channel;
    time.peer = step.peer;
    time.bytes = step.units * schedule_.unit_bytes;
    time.offset = place.offset * schedule_.unit_bytes;
    times_->begin(index, time);
}

void Operation::copy(const Step& step) {
    if (operands_.code != MPI_SUCCESS) return;  // its own block may be shorter
    std::byte* from = memory_.address(step.from);
    std::byte* to = memory_.address(step.to);
    const int count = memory_.count_of(step);
    if (from == to || count == 0) return;
    if (operands_.layout.is_contiguous) {
        std::memcpy(to, from,
                    static_cast<std::size_t>(count) * static_cast<std::size_t>(operands_.layout.size));
        return;
    }
    check(send_to_self(from, count, operands_.type, to, count, operands_.type, ways_.comm));
}

void Operation::reduce(const Step& step) {
    const int count = memory_.count_of(step);
    if (count == 0) return;
    check(PMPI_Reduce_local(memory_.address(step.from), memory_.address(step.to), count, operands_.type,
                            operands_.op));
}

/// After an error the others get empty messages in place of data, and nothing may go on writing to memory
/// that is the user's or used again.
void Operation::abandon() {
    std::vector<bool> is_started(schedule_.steps.size(), false);
    for (std::size_t i = 0; i < next_ready_; ++i) is_started[ready_[i]] = true;
    for (const std::uint32_t step : pacer_.waiting()) is_started[step] = false;
    for (std::size_t i = 0; i < is_started.size(); ++i) {
        if (is_started[i]) continue;
        const Step& step = schedule_.steps[i];
        if (step.kind == StepKind::send) channel_->send_nothing(transfer(step, step.from));
        if (step.kind == StepKind::native_bcast) cluster_calls_.spoil_bcast(step);
    }
    channel_->abandon();
}

void Operation::check(int code) {
    if (code != MPI_SUCCESS && error_ == MPI_SUCCESS) error_ = code;
}

}  // namespace laple::mpi
