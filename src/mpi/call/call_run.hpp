// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "mpi/call/arguments.hpp"
#include "mpi/call/packed_message.hpp"
#include "mpi/call/user_blocks.hpp"
#include "mpi/comm/plan_cache.hpp"
#include "mpi/exec/block_exchange.hpp"
#include "mpi/exec/operation.hpp"
#include "mpi/exec/scratch.hpp"

namespace laple::mpi {

/// One run of a plan on a call's own buffers.
///
///     user's buffers ──pack──► one piece of bytes ──steps──► result ──unpack──► user's buffers
///
/// Packing is left out where the data already are as the steps want them. Can be suspended at any time, and
/// resumed later on any thread.
class CallRun {
  public:
    /// Packs. `plan` is not native; `rank` of `size` is this one. `times`: where those of its steps are
    /// noted, or nullptr. The references must outlive this.
    CallRun(const PreparedPlan& plan, Arguments& arguments, int rank, int size, const Ways& ways,
            StepTimes* times);
    CallRun(const CallRun&) = delete;
    CallRun& operator=(const CallRun&) = delete;

    /// Does what can be done without waiting; MPI's own steps of a cluster block (Operation::progress).
    void progress() { operation_ ? operation_->progress() : exchange_->progress(); }
    /// Does everything but for finish(), and waits where it must.
    int to_end() { return operation_ ? operation_->to_end() : exchange_->to_end(); }
    bool is_complete() const { return operation_ ? operation_->is_complete() : exchange_->is_complete(); }

    /// Of a complete run: puts the result where the user wants it. Returns MPI's error code: the first one
    /// that the run has met.
    int finish();

  private:
    void prepare_moving();
    void prepare_gathering();
    void prepare_blocks();
    void prepare_in_parts();
    void copy_own_block();
    void note_error(int code);

    Arguments& arguments_;
    int rank_;
    int size_;
    const Ways& ways_;
    int code_ = MPI_SUCCESS;  // of blocks that differ: an error that the others do not learn of
    std::optional<PackedMessage> input_;
    std::optional<PackedMessage> result_;
    std::optional<PackedBlocks> input_blocks_;
    std::optional<PackedBlocks> result_blocks_;
    std::optional<ScratchPool::Lease> copy_;     // of an input that the result is written over
    std::optional<ScratchPool::Lease> scratch_;  // of the steps
    BlockOperands block_operands_;
    std::optional<Operation> operation_;
    std::optional<BlockExchange> exchange_;
};

}  // namespace laple::mpi
