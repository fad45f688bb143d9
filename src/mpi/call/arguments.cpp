// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/arguments.hpp"

#include <algorithm>

#include "collectives/planner/planner.hpp"

namespace laple::mpi {
namespace {

/// MPI_Pack counts in int, and every rank must decide alike whatever its datatype.
constexpr MPI_Count kMaxBytes = kMostPlannedBytes;

bool is_commutative(MPI_Op op) {
    int commutative = 1;
    if (!is_predefined(op)) PMPI_Op_commutative(op, &commutative);
    return commutative != 0;
}

/// Whether `data` cannot be a buffer: MPI's own call says what is wrong. nullptr is MPI_BOTTOM, good for
/// types that hold addresses.
bool is_bad(const UserBuffer& buffer, const TypeLayout& layout) {
    return buffer.count > 0 &&
           (buffer.data == MPI_IN_PLACE || (buffer.data == nullptr && layout.true_lb == 0));
}

bool is_valid(const UserBuffer& buffer) {
    return buffer.count >= 0 && buffer.type != MPI_DATATYPE_NULL;
}

bool is_too_large(const UserBuffer& buffer, const TypeLayout& layout) {
    return layout.size > 0 && buffer.count > kMaxBytes / layout.size;
}

/// Whether the operation is one that LaPle may use on elements of that type.
bool may_combine(MPI_Op op, MPI_Datatype type) {
    if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP) return false;
    return !is_predefined(op) || allows(op, type);
}

/// Reductions work on the user's memory in place. Both ends have the type and count of the result.
bool find_combined(const Call& call, const CommState& state, bool has_result, Arguments& arguments) {
    const bool is_in_place = call.input.data == MPI_IN_PLACE;
    if (is_in_place && !has_result) return false;
    if (!is_valid(call.result) || !may_combine(call.op, call.result.type)) return false;
    const TypeLayout layout = layout_of(call.result.type);
    if (is_too_large(call.result, layout)) return false;
    const bool is_aliased = has_result && !is_in_place && call.input.data == call.result.data &&
                            call.result.data != MPI_BOTTOM && call.result.count > 0;
    if (is_aliased || (!is_in_place && is_bad(call.input, layout)) ||
        (has_result && is_bad(call.result, layout)))
        return false;
    Request& request = arguments.request;
    request.units = static_cast<std::uint64_t>(call.result.count);
    request.unit_bytes = static_cast<Bytes>(layout.size);
    request.commutative = is_commutative(call.op);
    request.rounds = !is_exact(call.op, call.result.type);
    request.in_fixed_order = state.is_strict() && request.rounds;
    Operands& operands = arguments.operands;
    operands.input = static_cast<const std::byte*>(is_in_place ? call.result.data : call.input.data);
    operands.result = static_cast<std::byte*>(call.result.data);
    operands.has_result = has_result;
    operands.type = call.result.type;
    operands.layout = layout;
    operands.op = call.op;
    return true;
}

/// What this rank contributes from memory of its own. Where that is not as long as what the others expect,
/// they learn of it as of an error on the way.
bool find_input(const Call& call, Arguments& arguments) {
    arguments.is_in_place = call.input.data == MPI_IN_PLACE;
    if (arguments.is_in_place) return true;
    if (!is_valid(call.input)) return false;
    arguments.input = call.input;
    arguments.input_layout = layout_of(call.input.type);
    if (is_too_large(call.input, arguments.input_layout) || is_bad(call.input, arguments.input_layout))
        return false;
    const MPI_Count bytes = call.input.count * arguments.input_layout.size;
    if (static_cast<std::uint64_t>(bytes) != arguments.request.units)
        arguments.operands.code = MPI_ERR_TRUNCATE;
    return true;
}

/// Data that are only moved are bytes to LaPle. The call has one rank's part of a result that is gathered.
bool find_moved(const Call& call, const CommState& state, Arguments& arguments) {
    if (!is_valid(call.result)) return false;
    arguments.result = call.result;
    arguments.result_layout = layout_of(call.result.type);
    if (is_too_large(call.result, arguments.result_layout) || is_bad(call.result, arguments.result_layout))
        return false;
    Request& request = arguments.request;
    request.units = static_cast<std::uint64_t>(call.result.count * arguments.result_layout.size);
    const CollectiveRow& row = row_of(call.collective);
    if (!row.has_input || request.units == 0) return true;
    const std::uint64_t all = row.buffers(request, state.size(), state.rank()).result_units;
    arguments.result.count *= static_cast<MPI_Count>(all / request.units);
    return !is_too_large(arguments.result, arguments.result_layout) && find_input(call, arguments);
}

bool find_of_barrier(Arguments& arguments) {
    arguments.request.units = 1;
    arguments.request.unit_bytes = 0;
    arguments.operands.has_result = false;
    return true;
}

}  // namespace

bool find_arguments(const Call& call, const CommState& state, Arguments& arguments) {
    const CollectiveRow& row = row_of(call.collective);
    if (row.is_rooted && (call.root < 0 || call.root >= state.size())) return false;
    const bool has_result = !row.runs_to_root || state.rank() == call.root;
    arguments.request.collective = call.collective;
    arguments.request.root = row.is_rooted ? call.root : 0;
    if (!row.has_data) return find_of_barrier(arguments);
    return row.combines ? find_combined(call, state, has_result, arguments)
                        : find_moved(call, state, arguments);
}

Bytes reported_bytes(const Call& call) {
    if (call.result.count <= 0 || call.result.type == MPI_DATATYPE_NULL) return 0;
    int size = 0;
    PMPI_Type_size(call.result.type, &size);
    return static_cast<Bytes>(call.result.count) * static_cast<Bytes>(std::max(size, 0));
}

}  // namespace laple::mpi
