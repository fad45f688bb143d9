// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/executor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "mpi/transport.hpp"

namespace laple::mpi {
namespace {

constexpr int kSelfTag = 1;
constexpr std::size_t kAlignment = 64;

/// One run of one schedule.
class Run {
  public:
    Run(const PreparedSchedule& prepared, const Operands& operands, const Channels& channels,
        Scratch& scratch)
        : prepared_(prepared),
          schedule_(prepared.schedule()),
          operands_(operands),
          channels_(channels),
          buffers_(scratch.lists().buffers),
          waits_(scratch.lists().waits),
          ready_(scratch.lists().ready),
          under_way_(scratch.lists().under_way),
          is_oldest_(scratch.lists().is_oldest),
          watched_(scratch.lists().watched),
          step_of_watched_(scratch.lists().step_of_watched),
          error_(operands.code) {
        waits_ = prepared.waits();
        ready_.clear();
        under_way_.assign(schedule_.steps.size(), MPI_REQUEST_NULL);
        is_oldest_ = prepared.first_in_channel();
        watched_.clear();
        step_of_watched_.clear();
        lay_out_temporaries(scratch);
        ready_.reserve(schedule_.steps.size());
        // How many there are at a time differs from run to run.
        watched_.reserve(prepared.channel_count());
        step_of_watched_.reserve(prepared.channel_count());
        for (std::uint32_t i = 0; i < waits_.size(); ++i) {
            if (waits_[i] == 0) ready_.push_back(i);
        }
    }

    int to_end() {
        while (done_ < schedule_.steps.size() && error_ == MPI_SUCCESS) {
            while (next_ready_ < ready_.size() && error_ == MPI_SUCCESS) start(ready_[next_ready_++]);
            if (!watched_.empty() && error_ == MPI_SUCCESS) wait();
        }
        if (error_ != MPI_SUCCESS) abandon();
        return error_;
    }

  private:
    /// Where units that follow each other have their bytes, from the address of the first one.
    struct Span {
        std::ptrdiff_t low;
        std::ptrdiff_t bytes;
    };
    Span span_of(std::uint64_t units) const {
        if (units == 0) return {0, 0};
        const TypeLayout& layout = operands_.layout;
        const MPI_Count last = (static_cast<MPI_Count>(units) - 1) * layout.extent;
        const MPI_Count low = layout.true_lb + std::min<MPI_Count>(last, 0);
        const MPI_Count high = layout.true_lb + layout.true_extent + std::max<MPI_Count>(last, 0);
        return {low, high - low};
    }

    /// Buffers of our own hold blocks as the user's do: one after the other, wherever the datatype puts its
    /// bytes, also before its address.
    void lay_out_temporaries(Scratch& scratch) {
        const Blocks& blocks = schedule_.blocks;
        const auto for_each_span = [&](auto&& use) {
            if (!operands_.has_result) use(span_of(blocks.units));
            for (const std::uint32_t slots : schedule_.temporary_slots)
                use(span_of(blocks.units_in(0) * slots));
        };
        std::size_t total = 0;
        for_each_span([&](const Span& span) { total += aligned(static_cast<std::size_t>(span.bytes)); });
        std::byte* next = scratch.get(total);

        buffers_.clear();
        // Only read from: the executor never writes to kInput.
        buffers_.push_back(const_cast<std::byte*>(operands_.input));
        if (operands_.has_result) buffers_.push_back(operands_.result);
        for_each_span([&](const Span& span) {
            buffers_.push_back(moved(next, -span.low));
            next += aligned(static_cast<std::size_t>(span.bytes));
        });
        stride_ = static_cast<std::ptrdiff_t>(blocks.units_per_block) * operands_.layout.extent;
    }

    static std::size_t aligned(std::size_t bytes) {
        return (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }

    std::byte* address(Place place) const {
        return moved(buffers_[place.buffer], stride_ * static_cast<std::ptrdiff_t>(place.slot));
    }

    int count_of(const Step& step) const {
        return static_cast<int>(schedule_.blocks.units_in(step.block, step.run));
    }

    int tag_of(const Step& step) const { return channels_.first_tag + step.channel; }

    void start(std::uint32_t index) {
        const Step& step = schedule_.steps[index];
        switch (step.kind) {
            case StepKind::send:
                check(start_send(address(step.from), count_of(step), operands_.type, step.peer, tag_of(step),
                                 channels_.shadow, under_way_[index]));
                if (error_ != MPI_SUCCESS) return send_nothing(step);
                return has_started(index);
            case StepKind::recv:
                check(PMPI_Irecv(address(step.to), count_of(step), operands_.type, step.peer, tag_of(step),
                                 channels_.shadow, &under_way_[index]));
                return has_started(index);
            case StepKind::copy:
                copy(step);
                break;
            case StepKind::reduce:
                if (count_of(step) > 0) {
                    check(PMPI_Reduce_local(address(step.from), address(step.to), count_of(step),
                                            operands_.type, operands_.op));
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
    void has_started(std::uint32_t index) {
        if (is_oldest_[index] != 0) watch(index);
        const std::int64_t next = schedule_.steps[index].next_in_channel;
        if (next >= 0) release(static_cast<std::uint32_t>(next));
    }

    void watch(std::uint32_t index) {
        watched_.push_back(std::exchange(under_way_[index], MPI_REQUEST_NULL));
        step_of_watched_.push_back(index);
    }

    void copy(const Step& step) {
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
        check(PMPI_Comm_rank(channels_.shadow, &self));
        check(PMPI_Sendrecv(from, count, operands_.type, self, kSelfTag, to, count, operands_.type, self,
                            kSelfTag, channels_.shadow, MPI_STATUS_IGNORE));
    }

    int rank_in_group(Rank rank) const {
        const auto found = std::find(channels_.group_ranks.begin(), channels_.group_ranks.end(), rank);
        return static_cast<int>(found - channels_.group_ranks.begin());
    }

    /// Native steps carry the whole message: the plan has one block. Of an empty one (a barrier's) only the
    /// waiting is left, which MPI's own broadcast and reduction of nothing would not do.
    void native_bcast(const Step& step) {
        if (count_of(step) == 0) return check(PMPI_Barrier(channels_.group));
        check(PMPI_Bcast(address(step.to), count_of(step), operands_.type, rank_in_group(step.peer),
                         channels_.group));
    }

    void native_reduce(const Step& step) {
        if (count_of(step) == 0) return check(PMPI_Barrier(channels_.group));
        int self = 0;
        check(PMPI_Comm_rank(channels_.group, &self));
        const int root = rank_in_group(step.peer);
        const std::byte* from = address(step.from);
        std::byte* to = self == root ? address(step.to) : nullptr;
        // Not MPI_IN_PLACE: MPICH 4.0.2 crashes on it above some KiB when the root is not rank 0.
        std::vector<std::byte> copy_of_input;
        if (from == to) {
            const Span span = span_of(schedule_.blocks.units);
            const std::byte* const first = moved(from, span.low);
            copy_of_input.assign(first, first + span.bytes);
            from = moved(copy_of_input.data(), -span.low);
        }
        check(PMPI_Reduce(from, to, count_of(step), operands_.type, operands_.op, root, channels_.group));
    }

    /// Of a channel only the oldest message is looked at: the others come after it, and a look at hundreds of
    /// requests takes the processor from those who have something to do.
    void wait() {
        int finished = MPI_UNDEFINED;
        MPI_Status status{};
        check(wait_for_any(watched_, finished, &status));
        if (finished == MPI_UNDEFINED || error_ != MPI_SUCCESS) return;
        const std::uint32_t step = step_of_watched_[static_cast<std::size_t>(finished)];
        if (schedule_.steps[step].kind == StepKind::recv) check_length(schedule_.steps[step], status);
        watched_.erase(watched_.begin() + finished);
        step_of_watched_.erase(step_of_watched_.begin() + finished);
        if (const std::int64_t next = schedule_.steps[step].next_in_channel; next >= 0) {
            const auto oldest = static_cast<std::uint32_t>(next);
            is_oldest_[oldest] = 1;
            if (under_way_[oldest] != MPI_REQUEST_NULL) watch(oldest);
        }
        complete(step);
    }

    /// A shorter message is no error to MPI: the ranks give different lengths, or its sender has met an
    /// error.
    void check_length(const Step& step, const MPI_Status& status) {
        if (operands_.layout.size == 0) return;
        int count = 0;
        check(PMPI_Get_count(&status, operands_.type, &count));
        if (count != count_of(step)) check(MPI_ERR_TRUNCATE);
    }

    /// In place of data that this rank does not have.
    void send_nothing(const Step& step) {
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Isend(nullptr, 0, MPI_BYTE, step.peer, tag_of(step), channels_.shadow, &request);
        if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
    }

    /// MPI finds that the others of the group want another length. Of nothing it would not speak with them.
    void spoil_native_bcast(const Step& step) {
        std::array<std::byte, 2> bytes{};
        const MPI_Count wanted = count_of(step) * operands_.layout.size;
        if (wanted == 0) return native_bcast(step);
        PMPI_Bcast(bytes.data(), wanted == 1 ? 2 : 1, MPI_BYTE, rank_in_group(step.peer), channels_.group);
    }

    /// After an error nothing may go on writing to memory that is the user's or used again.
    void abandon() {
        for (std::size_t i = 0; i < watched_.size(); ++i) under_way_[step_of_watched_[i]] = watched_[i];
        watched_.clear();
        std::vector<bool> is_started(schedule_.steps.size(), false);
        for (std::size_t i = 0; i < next_ready_; ++i) is_started[ready_[i]] = true;
        for (std::size_t i = 0; i < is_started.size(); ++i) {
            if (is_started[i]) continue;
            const Step& step = schedule_.steps[i];
            if (step.kind == StepKind::send) send_nothing(step);
            if (step.kind == StepKind::native_bcast) spoil_native_bcast(step);
        }
        for (std::size_t step = 0; step < under_way_.size(); ++step) {
            if (under_way_[step] == MPI_REQUEST_NULL) continue;
            if (schedule_.steps[step].kind == StepKind::recv) PMPI_Cancel(&under_way_[step]);
            PMPI_Request_free(&under_way_[step]);
        }
    }

    void complete(std::uint32_t index) {
        ++done_;
        for (const std::uint32_t successor : prepared_.successors(index)) release(successor);
    }

    void release(std::uint32_t index) {
        if (--waits_[index] == 0) ready_.push_back(index);
    }

    void check(int code) {
        if (code != MPI_SUCCESS && error_ == MPI_SUCCESS) error_ = code;
    }

    const PreparedSchedule& prepared_;
    const Schedule& schedule_;
    const Operands& operands_;
    const Channels& channels_;
    std::ptrdiff_t stride_ = 0;  // from a slot to the next one
    std::size_t next_ready_ = 0;
    std::size_t done_ = 0;
    // Scratch::Lists
    std::vector<std::byte*>& buffers_;
    std::vector<std::uint32_t>& waits_;
    std::vector<std::uint32_t>& ready_;
    std::vector<MPI_Request>& under_way_;
    std::vector<std::uint8_t>& is_oldest_;
    std::vector<MPI_Request>& watched_;
    std::vector<std::uint32_t>& step_of_watched_;
    int error_;
};

}  // namespace

PreparedSchedule::PreparedSchedule(Schedule schedule) : schedule_(std::move(schedule)) {
    const std::size_t count = schedule_.steps.size();
    waits_.resize(count);
    first_in_channel_.assign(count, 0);
    first_successor_.assign(count + 1, 0);
    for (std::size_t i = 0; i < count; ++i) {
        const Step& step = schedule_.steps[i];
        waits_[i] = step.dependency_count;
        if (step.kind == StepKind::send || step.kind == StepKind::recv) {
            if (step.is_first_in_channel) {
                first_in_channel_[i] = 1;
                ++channel_count_;
            } else {
                ++waits_[i];
            }
        }
        if (step.kind == StepKind::native_bcast || step.kind == StepKind::native_reduce) uses_native_ = true;
        for (const std::uint32_t dependency : schedule_.dependencies_of(step))
            ++first_successor_[dependency + 1];
    }
    for (std::size_t i = 0; i < count; ++i) first_successor_[i + 1] += first_successor_[i];
    successors_.resize(schedule_.dependencies.size());
    std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
    for (std::uint32_t i = 0; i < count; ++i) {
        for (const std::uint32_t dependency : schedule_.dependencies_of(schedule_.steps[i])) {
            successors_[next[dependency]++] = i;
        }
    }
}

int execute(const PreparedSchedule& prepared, const Operands& operands, const Channels& channels,
            Scratch& scratch) {
    return Run(prepared, operands, channels, scratch).to_end();
}

}  // namespace laple::mpi
