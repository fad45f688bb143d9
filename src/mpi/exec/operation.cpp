// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/operation.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace laple::mpi {
namespace {

constexpr int kSelfTag = 1;
constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::ptrdiff_t bytes) {
    return (static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Operation::Operation(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
                     Scratch& scratch)
    : prepared_(prepared),
      schedule_(prepared.schedule()),
      operands_(operands),
      ways_(ways),
      scratch_(scratch),
      buffers_(scratch.lists().buffers),
      waits_(scratch.lists().waits),
      ready_(scratch.lists().ready) {
    lay_out_temporaries();
    begin();
}

void Operation::begin() {
    error_ = operands_.code;
    done_ = next_ready_ = 0;
    waits_ = prepared_.graph().waits();
    ready_.clear();
    ready_.reserve(schedule_.steps.size());
    channel_.emplace(prepared_, ways_.comm, scratch_.lists());
    for (std::uint32_t i = 0; i < waits_.size(); ++i) {
        if (waits_[i] == 0) ready_.push_back(i);
    }
    if (error_ != MPI_SUCCESS) abandon();
}

void Operation::restart() {
    begin();
}

void Operation::progress() {
    while (!is_complete()) {
        start_ready();
        if (is_complete() || channel_->is_idle()) return;
        const auto completion = channel_->look();
        if (!completion) return;
        take(*completion);
    }
}

int Operation::to_end() {
    while (!is_complete()) {
        start_ready();
        if (!is_complete() && !channel_->is_idle()) take(channel_->wait());
    }
    return error_;
}

void Operation::start_ready() {
    while (next_ready_ < ready_.size() && error_ == MPI_SUCCESS) start(ready_[next_ready_++]);
    if (error_ != MPI_SUCCESS) abandon();
}

void Operation::take(const Channel::Completion& completion) {
    check(completion.code);
    if (error_ != MPI_SUCCESS) return abandon();
    complete(completion.step);
}

Operation::Span Operation::span_of(std::uint64_t units) const {
    if (units == 0) return {0, 0};
    const TypeLayout& layout = operands_.layout;
    const MPI_Count last = (static_cast<MPI_Count>(units) - 1) * layout.extent;
    const MPI_Count low = layout.true_lb + std::min<MPI_Count>(last, 0);
    const MPI_Count high = layout.true_lb + layout.true_extent + std::max<MPI_Count>(last, 0);
    return {low, high - low};
}

/// Buffers of our own hold units as the user's do: one after the other, wherever the datatype puts its bytes,
/// also before its address.
void Operation::lay_out_temporaries() {
    const auto for_each_span = [&](auto&& use) {
        if (!operands_.has_result) use(span_of(schedule_.result_units));
        for (const std::uint64_t units : schedule_.temporary_units) use(span_of(units));
    };
    std::size_t total = 0;
    for_each_span([&](const Span& span) { total += aligned(span.bytes); });
    std::byte* next = scratch_.get(total);

    buffers_.clear();
    // Only read from: no step writes to kInput.
    buffers_.push_back(const_cast<std::byte*>(operands_.input));
    if (operands_.has_result) buffers_.push_back(operands_.result);
    for_each_span([&](const Span& span) {
        buffers_.push_back(moved(next, -span.low));
        next += aligned(span.bytes);
    });
}

std::byte* Operation::address(Place place) const {
    return moved(buffers_[place.buffer], static_cast<std::ptrdiff_t>(place.offset) * operands_.layout.extent);
}

Transfer Operation::transfer(const Step& step, Place place) const {
    return {address(place), count_of(step), operands_.type, step.peer, ways_.first_tag + step.channel};
}

void Operation::start(std::uint32_t index) {
    const Step& step = schedule_.steps[index];
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
            if (count_of(step) > 0) {
                check(PMPI_Reduce_local(address(step.from), address(step.to), count_of(step), operands_.type,
                                        operands_.op));
            }
            break;
        case StepKind::native_bcast:
            native_bcast(step);
            break;
        case StepKind::native_reduce:
            native_reduce(step);
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
    ++done_;
    for (const std::uint32_t successor : prepared_.graph().successors(index)) release(successor);
}

void Operation::release(std::uint32_t index) {
    if (--waits_[index] == 0) ready_.push_back(index);
}

void Operation::copy(const Step& step) {
    std::byte* from = address(step.from);
    std::byte* to = address(step.to);
    const int count = count_of(step);
    if (from == to || count == 0) return;
    if (operands_.layout.is_contiguous) {
        std::memcpy(to, from,
                    static_cast<std::size_t>(count) * static_cast<std::size_t>(operands_.layout.size));
        return;
    }
    int self = 0;
    check(PMPI_Comm_rank(ways_.comm, &self));
    check(PMPI_Sendrecv(from, count, operands_.type, self, kSelfTag, to, count, operands_.type, self,
                        kSelfTag, ways_.comm, MPI_STATUS_IGNORE));
}

int Operation::rank_in_cluster(Rank rank) const {
    const auto found = std::find(ways_.cluster_ranks.begin(), ways_.cluster_ranks.end(), rank);
    return static_cast<int>(found - ways_.cluster_ranks.begin());
}

/// For no units (a barrier's have no bytes) only synchronisation is left, which MPI's own broadcast and
/// reduction of nothing do not guarantee.
void Operation::native_bcast(const Step& step) {
    if (count_of(step) == 0) return check(PMPI_Barrier(ways_.cluster));
    check(PMPI_Bcast(address(step.to), count_of(step), operands_.type, rank_in_cluster(step.peer),
                     ways_.cluster));
}

void Operation::native_reduce(const Step& step) {
    if (count_of(step) == 0) return check(PMPI_Barrier(ways_.cluster));
    int self = 0;
    check(PMPI_Comm_rank(ways_.cluster, &self));
    const int root = rank_in_cluster(step.peer);
    const std::byte* from = address(step.from);
    std::byte* to = self == root ? address(step.to) : nullptr;
    // Not MPI_IN_PLACE: MPICH 4.0.2 crashes on it above some KiB when the root is not rank 0.
    std::vector<std::byte> copy_of_input;
    if (from == to) {
        const Span span = span_of(step.units);
        const std::byte* const first = moved(from, span.low);
        copy_of_input.assign(first, first + span.bytes);
        from = moved(copy_of_input.data(), -span.low);
    }
    check(PMPI_Reduce(from, to, count_of(step), operands_.type, operands_.op, root, ways_.cluster));
}

/// MPI finds that the others of the cluster want another length. For an empty message it would not contact
/// them.
void Operation::spoil_native_bcast(const Step& step) {
    std::array<std::byte, 2> bytes{};
    const MPI_Count wanted = count_of(step) * operands_.layout.size;
    if (wanted == 0) return native_bcast(step);
    PMPI_Bcast(bytes.data(), wanted == 1 ? 2 : 1, MPI_BYTE, rank_in_cluster(step.peer), ways_.cluster);
}

/// After an error the others get empty messages in place of data, and nothing may go on writing to memory
/// that is the user's or used again.
void Operation::abandon() {
    std::vector<bool> is_started(schedule_.steps.size(), false);
    for (std::size_t i = 0; i < next_ready_; ++i) is_started[ready_[i]] = true;
    for (std::size_t i = 0; i < is_started.size(); ++i) {
        if (is_started[i]) continue;
        const Step& step = schedule_.steps[i];
        if (step.kind == StepKind::send) channel_->send_nothing(transfer(step, step.from));
        if (step.kind == StepKind::native_bcast) spoil_native_bcast(step);
    }
    channel_->abandon();
}

void Operation::check(int code) {
    if (code != MPI_SUCCESS && error_ == MPI_SUCCESS) error_ = code;
}

}  // namespace laple::mpi
