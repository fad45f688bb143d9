// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/call_run.hpp"

#include <algorithm>
#include <cstring>

#include "base/index.hpp"
#include "mpi/exec/communicator.hpp"

namespace laple::mpi {

CallRun::CallRun(const PreparedPlan& plan, Arguments& arguments, int rank, int size, const Ways& ways,
                 StepTimes* times)
    : arguments_(arguments), rank_(rank), size_(size), ways_(ways) {
    if (plan.blocks != nullptr) {
        prepare_blocks();
        exchange_.emplace(*plan.schedule, *plan.blocks, block_operands_, ways, plan.routes.get(), times);
        return;
    }
    if (!arguments.result_blocks.empty()) {
        prepare_gathering();
    } else if (is_combined_in_parts(arguments.request.collective)) {
        prepare_in_parts();
    } else if (!row_of(arguments.request.collective).combines) {
        prepare_moving();
    }
    scratch_.emplace(ScratchPool::of_runs());
    operation_.emplace(*plan.schedule, arguments.operands, ways, plan.routes.get(), **scratch_, times);
}

/// The first error stands; the other ranks learn of it.
void CallRun::note_error(int code) {
    if (arguments_.operands.code == MPI_SUCCESS) arguments_.operands.code = code;
}

/// What is moved goes as bytes.
void CallRun::prepare_moving() {
    const CollectiveRow& row = row_of(arguments_.request.collective);
    const BufferSizes sizes = row.buffers(arguments_.request, size_, rank_);
    const bool is_source = !row.has_input && rank_ == arguments_.request.root;
    result_.emplace(arguments_.result, arguments_.result_layout, ways_.comm,
                    is_source || arguments_.is_in_place, !is_source);
    Operands& operands = arguments_.operands;
    note_error(result_->code());
    operands.result = result_->data();
    const bool is_copied = arguments_.is_in_place && sizes.input_in_result == BufferSizes::kApart;
    if (is_copied || arguments_.is_result_in_input) copy_.emplace(ScratchPool::of_packing());
    if (is_copied) {
        std::byte* const copy = (**copy_).get(sizes.input_units);
        std::memcpy(copy, operands.result, sizes.input_units);
        operands.input = copy;
    } else if (arguments_.is_in_place) {
        operands.input = operands.result + sizes.input_in_result;
    } else if (row.has_input) {
        input_.emplace(arguments_.input, arguments_.input_layout, ways_.comm, true, false);
        note_error(input_->code());
        operands.input = input_->data();
    }
    if (arguments_.is_result_in_input) operands.result = (**copy_).get(sizes.result_units);
}

/// The blocks of all ranks in their order, one after the other.
void CallRun::prepare_gathering() {
    result_blocks_.emplace(arguments_.result_blocks, ways_.comm, arguments_.is_in_place,
                           Arrangement::in_order);
    Operands& operands = arguments_.operands;
    note_error(result_blocks_->code());
    operands.result = result_blocks_->as_one();
    if (arguments_.is_in_place) {
        operands.input = operands.result + arguments_.request.block_begin(rank_);
        return;
    }
    input_blocks_.emplace(arguments_.input_blocks, ways_.comm, true, Arrangement::any);
    note_error(input_blocks_->code());
    operands.input = input_blocks_->as_one();
}

/// Each block may go its own way. What a rank has for itself does not go anywhere.
void CallRun::prepare_blocks() {
    const bool is_all_to_all = !row_of(arguments_.request.collective).is_rooted;
    // In place, a root has its own block there.
    result_blocks_.emplace(arguments_.result_blocks, ways_.comm, arguments_.is_in_place, Arrangement::any);
    const bool is_in_result = arguments_.is_in_place && is_all_to_all;
    input_blocks_.emplace(is_in_result ? arguments_.result_blocks : arguments_.input_blocks, ways_.comm, true,
                          is_in_result ? Arrangement::copied : Arrangement::any);
    block_operands_ = {input_blocks_->memory(), result_blocks_->memory()};
    code_ = input_blocks_->code();
    if (block_operands_.input.empty() || block_operands_.result.empty()) return;
    if (is_all_to_all || rank_ == arguments_.request.root) copy_own_block();
}

void CallRun::copy_own_block() {
    const auto own_of = [&](const std::vector<BlockMemory>& blocks) {
        return blocks.size() == 1 ? blocks.front() : blocks[at(rank_)];
    };
    const BlockMemory from = own_of(block_operands_.input);
    const BlockMemory to = own_of(block_operands_.result);
    if (from.bytes > to.bytes) code_ = MPI_ERR_TRUNCATE;
    if (from.bytes > 0) std::memmove(to.data, from.data, std::min(from.bytes, to.bytes));
}

/// In place, what the rank contributes is copied away first: the result is written over it.
void CallRun::prepare_in_parts() {
    if (!arguments_.is_in_place) return;
    copy_.emplace(ScratchPool::of_packing());
    Operands& operands = arguments_.operands;
    const UserBuffer& input = arguments_.input;
    const int count = static_cast<int>(input.count);
    const TypeLayout::Span span = operands.layout.span_of(static_cast<std::uint64_t>(count));
    std::byte* const copy = moved((**copy_).get(static_cast<std::size_t>(span.bytes)), -span.low);
    note_error(send_to_self(input.data, count, input.type, copy, count, input.type, ways_.comm));
    operands.input = copy;
}

/// Of blocks that differ, those that came are the user's whatever became of others.
int CallRun::finish() {
    const int ran = operation_ ? operation_->code() : exchange_->code();
    int unpacked = MPI_SUCCESS;
    if (ran == MPI_SUCCESS || exchange_) {
        if (result_) unpacked = result_->unpack();
        if (result_blocks_) unpacked = result_blocks_->unpack();
    }
    for (const int code : {ran, unpacked}) code_ = code_ == MPI_SUCCESS ? code : code_;
    return code_;
}

}  // namespace laple::mpi
