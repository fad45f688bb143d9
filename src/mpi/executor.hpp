// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "collectives/schedule.hpp"
#include "mpi/datatype.hpp"

namespace laple::mpi {

/// A schedule with what the executor wants to know of it, worked out once per plan.
class PreparedSchedule {
  public:
    explicit PreparedSchedule(Schedule schedule);

    const Schedule& schedule() const { return schedule_; }
    /// For each step how many others must be complete (or, before it in its channel, started) first.
    const std::vector<std::uint32_t>& waits() const { return waits_; }
    /// For each step whether it is the first message to, or from, a peer in a channel; and how many are.
    const std::vector<std::uint8_t>& first_in_channel() const { return first_in_channel_; }
    std::size_t channel_count() const { return channel_count_; }
    /// The steps that wait for `step` to be complete.
    std::span<const std::uint32_t> successors(std::uint32_t step) const {
        return {successors_.data() + first_successor_[step],
                first_successor_[step + 1] - first_successor_[step]};
    }
    bool uses_native() const { return uses_native_; }

  private:
    Schedule schedule_;
    std::vector<std::uint32_t> waits_;
    std::vector<std::uint8_t> first_in_channel_;
    std::size_t channel_count_ = 0;
    std::vector<std::uint32_t> first_successor_;
    std::vector<std::uint32_t> successors_;
    bool uses_native_ = false;
};

/// The user's memory and how to work on it.
struct Operands {
    const std::byte* input = nullptr;  ///< own contribution of a reduction; may be `result`
    std::byte* result = nullptr;       ///< the message or the result; nullptr may be MPI_BOTTOM, so:
    bool has_result = true;            ///< false where this rank gets none (MPI_Reduce)
    MPI_Datatype type = MPI_BYTE;      ///< one unit of the schedule's blocks
    TypeLayout layout{1, 1, 0, 1, true};
    MPI_Op op = MPI_OP_NULL;
};

/// Where messages go: the shadow communicator, and for native steps this rank's innermost group.
struct Channels {
    MPI_Comm shadow = MPI_COMM_NULL;
    MPI_Comm group = MPI_COMM_NULL;
    std::vector<Rank> group_ranks;  ///< ranks of `shadow` by rank in `group`
};

/// Memory for temporary buffers and for the executor's lists, kept from call to call: a plan that has run
/// before runs without an allocation, but for very large temporary buffers, and native reductions in place.
class Scratch {
  public:
    /// Where a run stands. Of no use between runs but for its memory.
    struct Lists {
        std::vector<std::uint32_t> waits;     ///< by step: for how many others it still has to wait
        std::vector<std::uint32_t> ready;     ///< steps in the order in which they became so
        std::vector<MPI_Request> under_way;   ///< by step: of messages that are not watched yet
        std::vector<std::uint8_t> is_oldest;  ///< by step: all before it in its channel are complete
        std::vector<MPI_Request> watched;     ///< of the oldest message under way of each channel
        std::vector<std::uint32_t> step_of_watched;
        std::vector<std::byte*> buffers;  ///< by number: address of slot 0's first unit, as MPI wants it
    };

    /// At least `bytes` bytes, aligned for any type; valid until the next call.
    std::byte* get(std::size_t bytes);
    Lists& lists() { return lists_; }
    /// Gives back what is beyond a reasonable amount to hold on to.
    void trim();

  private:
    Lists lists_;
    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_ = 0;
};

/// Runs this rank's part to its end with PMPI point-to-point calls and PMPI_Reduce_local. Receives are posted
/// and segments forwarded as soon as the schedule allows; when nothing completes the processor is yielded,
/// since ranks may share cores. Returns MPI_SUCCESS or the first error code of an inner call.
int execute(const PreparedSchedule& prepared, const Operands& operands, const Channels& channels,
            Scratch& scratch);

}  // namespace laple::mpi
