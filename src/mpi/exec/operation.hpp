// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <mpi.h>

#include "mpi/exec/datatype.hpp"
#include "mpi/exec/mpi_channel.hpp"
#include "mpi/exec/prepared_schedule.hpp"
#include "mpi/exec/scratch.hpp"

namespace laple::mpi {

/// The user's memory and how to work on it.
struct Operands {
    const std::byte* input = nullptr;  ///< what the rank contributes; may be part of `result`
    std::byte* result = nullptr;       ///< the message or the result; nullptr may be MPI_BOTTOM, so:
    bool has_result = true;            ///< false where this rank gets none (MPI_Reduce)
    MPI_Datatype type = MPI_BYTE;      ///< one unit of the schedule
    TypeLayout layout{1, 1, 0, 1, true};
    MPI_Op op = MPI_OP_NULL;
    int code = MPI_SUCCESS;  ///< an error that this rank has met already; the others learn of it
};

/// Where messages go: LaPle's own communicator, and for native steps that of this rank's cluster.
struct Ways {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm cluster = MPI_COMM_NULL;
    std::vector<Rank> cluster_ranks;  ///< ranks of `comm` by rank in `cluster`
    int first_tag = 16;               ///< of as many as there are channels
};

/// One run of a schedule: this rank's part of a collective, with point-to-point messages and
/// PMPI_Reduce_local. Receives are posted and segments forwarded as soon as the schedule allows. Can be
/// suspended at any time and resumed later, on any thread, by one thread at a time. A blocking call runs it
/// to its end.
///
/// After an error a rank sends empty messages in place of its data, so that its peers neither wait for ever
/// nor take other messages for them.
class Operation {
  public:
    /// The references must outlive this; `scratch` is its own until it is complete.
    Operation(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways, Scratch& scratch);

    /// Does what can be done without waiting. Native steps block, and with them this call.
    void progress();
    /// Does everything, and waits where it must; when nothing completes the processor is yielded, since ranks
    /// may share cores. Returns code().
    int to_end();

    bool is_complete() const { return error_ != MPI_SUCCESS || done_ == schedule_.steps.size(); }
    /// Of a complete operation: MPI_SUCCESS or the first error code of an inner call; MPI_ERR_TRUNCATE also
    /// where a message is shorter than this rank expects.
    int code() const { return error_; }
    /// Begins once more, on the same memory. The operation must be complete, and have met no error.
    void restart();

  private:
    /// Where units that follow each other have their bytes, from the address of the first one.
    struct Span {
        std::ptrdiff_t low;
        std::ptrdiff_t bytes;
    };
    Span span_of(std::uint64_t units) const;
    void lay_out_temporaries();
    void begin();
    void start_ready();
    void start(std::uint32_t index);
    void take(const Channel::Completion& completion);
    void complete(std::uint32_t index);
    void release(std::uint32_t index);
    void has_started(std::uint32_t index);
    void copy(const Step& step);
    void native_bcast(const Step& step);
    void native_reduce(const Step& step);
    void spoil_native_bcast(const Step& step);
    void abandon();
    void check(int code);

    std::byte* address(Place place) const;
    /// Of units without bytes MPI counts none.
    int count_of(const Step& step) const {
        return schedule_.unit_bytes == 0 ? 0 : static_cast<int>(step.units);
    }
    Transfer transfer(const Step& step, Place place) const;
    int rank_in_cluster(Rank rank) const;

    const PreparedSchedule& prepared_;
    const Schedule& schedule_;
    Operands operands_;
    const Ways& ways_;
    Scratch& scratch_;
    std::vector<std::byte*>& buffers_;   // by number: address of unit 0
    std::vector<std::uint32_t>& waits_;  // by step: for how many others it still has to wait
    std::vector<std::uint32_t>& ready_;  // steps in the order in which they became so
    std::optional<MpiChannel> channel_;
    std::size_t next_ready_ = 0;
    std::size_t done_ = 0;
    int error_ = MPI_SUCCESS;
};

}  // namespace laple::mpi
