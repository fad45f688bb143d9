// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <mpi.h>

#include "collectives/schedule/step_graph.hpp"
#include "mpi/exec/cluster_calls.hpp"
#include "mpi/exec/operands.hpp"
#include "mpi/exec/pacer.hpp"
#include "mpi/exec/routed_channel.hpp"
#include "mpi/exec/scratch.hpp"
#include "mpi/exec/step_memory.hpp"
#include "mpi/exec/step_times.hpp"

namespace laple::mpi {

/// One run of a schedule: this rank's part of a collective, with point-to-point messages and
/// PMPI_Reduce_local. Receives are posted and segments forwarded as soon as the schedule allows. Can be
/// suspended at any time and resumed later, on any thread, by one thread at a time. A blocking call runs it
/// to its end.
///
/// After an error a rank sends empty messages in place of its data, so that its peers neither wait for ever
/// nor take other messages for them.
class Operation {
  public:
    /// The references must outlive this; `scratch` is its own until it is complete. `routes`: of the plan, or
    /// nullptr where it has no streams. `times`: where the times of its steps are noted by their numbers in
    /// the schedule, or nullptr.
    Operation(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
              const StreamRoutes* routes, Scratch& scratch, StepTimes* times = nullptr);

    /// Does what can be done without waiting. Native steps block, and with them this call.
    void progress();
    /// Does everything, and waits where it must; when nothing completes the processor is yielded, since ranks
    /// may share cores. Returns code().
    int to_end();

    bool is_complete() const { return error_ != MPI_SUCCESS || done_ == schedule_.steps.size(); }
    /// Of a complete operation: MPI_SUCCESS or the first error code of an inner call; MPI_ERR_TRUNCATE also
    /// where a message is shorter than this rank expects.
    int code() const { return error_ != MPI_SUCCESS ? error_ : operands_.code; }
    /// Begins once more, on the same memory. The operation must be complete, and have met no error;
    /// `ways.call` must be another one.
    void restart();

  private:
    void start_ready();
    void start_paced();
    void start_paced_or_abandon();
    void wait();
    void start(std::uint32_t index);
    void take(const Channel::Completion& completion);
    void complete(std::uint32_t index);
    void release(std::uint32_t index);
    void has_started(std::uint32_t index);
    void note_begin(std::uint32_t index);
    void copy(const Step& step);
    void reduce(const Step& step);
    bool has_sends() const;
    void abandon();
    void check(int code);

    Transfer transfer(const Step& step, Place place) const;

    const PreparedSchedule& prepared_;
    const Schedule& schedule_;
    Operands operands_;
    const Ways& ways_;
    const StreamRoutes* routes_;
    Scratch& scratch_;
    StepTimes* times_;
    StepMemory memory_;
    ClusterCalls cluster_calls_;
    std::vector<std::uint32_t>& waits_;  // by step: for how many others it still has to wait
    std::vector<std::uint32_t>& ready_;  // steps in the order in which they became so
    std::optional<RoutedChannel> channel_;
    Pacer pacer_;
    std::size_t next_ready_ = 0;
    std::size_t done_ = 0;
    int error_ = MPI_SUCCESS;
};

}  // namespace laple::mpi
