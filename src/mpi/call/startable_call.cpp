// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/startable_call.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/exec/datatype.hpp"

namespace laple::mpi {
namespace {

/// The program's own handles that the call uses.
template <typename Handle, typename IsPredefined>
void add_handle(std::vector<Handle>& handles, Handle handle, IsPredefined is_predefined) {
    if (is_predefined(handle)) return;
    if (std::find(handles.begin(), handles.end(), handle) == handles.end()) handles.push_back(handle);
}

KeptHandles handles_of(const Arguments& arguments) {
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Op> ops;
    for (MPI_Datatype type : {arguments.operands.type, arguments.input.type, arguments.result.type})
        add_handle(types, type, is_named);
    for (const auto* blocks : {&arguments.input_blocks, &arguments.result_blocks}) {
        for (const UserBlock& block : *blocks) add_handle(types, block.buffer.type, is_named);
    }
    if (arguments.operands.op != MPI_OP_NULL) {
        add_handle(ops, arguments.operands.op, [](MPI_Op op) { return is_predefined(op); });
    }
    return {std::move(types), std::move(ops)};
}

}  // namespace

StartableCall::StartableCall(std::shared_ptr<CommState> its_state,
                             std::shared_ptr<const PreparedPlan> its_plan, Arguments its_arguments,
                             std::string_view its_function)
    : state(std::move(its_state)),
      plan(std::move(its_plan)),
      arguments(std::move(its_arguments)),
      function(its_function),
      handles(handles_of(arguments)) {}

}  // namespace laple::mpi
