// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include "collectives/schedule.hpp"
#include "mpi/datatype.hpp"
#include "mpi/scratch.hpp"

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
    int code = MPI_SUCCESS;  ///< an error that this rank has met already; the others learn of it
};

/// Where messages go: the shadow communicator, and for native steps this rank's innermost group.
struct Channels {
    MPI_Comm shadow = MPI_COMM_NULL;
    MPI_Comm group = MPI_COMM_NULL;
    std::vector<Rank> group_ranks;  ///< ranks of `shadow` by rank in `group`
    int first_tag = 16;             ///< of as many as there are channels
};

/// Runs this rank's part to its end with PMPI point-to-point calls and PMPI_Reduce_local. Receives are posted
/// and segments forwarded as soon as the schedule allows; when nothing completes the processor is yielded,
/// since ranks may share cores. Returns MPI_SUCCESS or the first error code of an inner call;
/// MPI_ERR_TRUNCATE also where a message is shorter than this rank expects. A rank that has met an error
/// sends nothing more but empty messages, so that those who wait for its data neither wait for ever nor take
/// others for them.
int execute(const PreparedSchedule& prepared, const Operands& operands, const Channels& channels,
            Scratch& scratch);

}  // namespace laple::mpi
