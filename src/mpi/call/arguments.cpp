// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/call/arguments.hpp"

#include <algorithm>
#include <optional>
#include <utility>

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
    const bool is_nowhere = buffer.data == nullptr && layout.true_lb == 0;
    return buffer.count > 0 && (buffer.data == MPI_IN_PLACE || (is_nowhere && layout.size > 0));
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

/// `input` is what the rank contributes, of elements of `layout`.
void set_combined(const Call& call, const CommState& state, const void* input, const TypeLayout& layout,
                  Arguments& arguments) {
    Request& request = arguments.request;
    request.unit_bytes = static_cast<Bytes>(layout.size);
    request.commutative = is_commutative(call.op);
    request.rounds = !is_exact(call.op, call.result.type);
    request.in_fixed_order = state.is_strict() && request.rounds;
    Operands& operands = arguments.operands;
    operands.input = static_cast<const std::byte*>(input);
    operands.result = static_cast<std::byte*>(call.result.data);
    operands.type = call.result.type;
    operands.layout = layout;
    operands.op = call.op;
}

bool is_aliased(const UserBuffer& input, const UserBuffer& result) {
    return input.data == result.data && result.data != MPI_BOTTOM && input.count > 0;
}

/// Reductions work on the user's memory in place. Both ends have the type and count of the result. The first
/// rank of an exscan gets none, but may have its contribution there.
bool find_combined(const Call& call, const CommState& state, bool has_result, Arguments& arguments) {
    const bool is_in_place = call.input.data == MPI_IN_PLACE;
    if (is_in_place && !has_result && row_of(call.collective).is_rooted) return false;
    if (!is_valid(call.result) || !may_combine(call.op, call.result.type)) return false;
    const TypeLayout layout = layout_of(call.result.type);
    if (is_too_large(call.result, layout)) return false;
    if (((has_result || !row_of(call.collective).is_rooted) && !is_in_place &&
         is_aliased(call.input, call.result)) ||
        (!is_in_place && is_bad(call.input, layout)) ||
        ((has_result || is_in_place) && is_bad(call.result, layout)))
        return false;
    arguments.request.units = static_cast<std::uint64_t>(call.result.count);
    set_combined(call, state, is_in_place ? call.result.data : call.input.data, layout, arguments);
    arguments.operands.has_result = has_result;
    return true;
}

/// How many elements each rank gets of the result, which take at most `most` together; false where they do
/// not, or MPI would refuse them.
bool find_counts_of_parts(const Call& call, int ranks, MPI_Count most, Request& request) {
    if (!call.has_blocks) {
        if (call.result.count < 0 || call.result.count > most / ranks) return false;
        request.units = static_cast<std::uint64_t>(call.result.count);
        return true;
    }
    if (call.result_blocks.counts.is_null()) return false;
    std::vector<std::uint64_t> counts;
    for (int rank = 0; rank < ranks; ++rank) {
        const MPI_Count count = call.result_blocks.counts[rank];
        if (count < 0 || count > most) return false;
        most -= count;
        counts.push_back(static_cast<std::uint64_t>(count));
    }
    request.units = *std::max_element(counts.begin(), counts.end());
    if (std::any_of(counts.begin(), counts.end(),
                    [&](std::uint64_t count) { return count != request.units; }))
        request.counts = Counts(counts);
    return true;
}

/// In place, the input begins where the result does, and is longer.
bool find_combined_in_parts(const Call& call, const CommState& state, Arguments& arguments) {
    if (call.result.type == MPI_DATATYPE_NULL || !may_combine(call.op, call.result.type)) return false;
    const TypeLayout layout = layout_of(call.result.type);
    Request& request = arguments.request;
    if (!find_counts_of_parts(call, state.size(), kMaxBytes / std::max<MPI_Count>(layout.size, 1), request))
        return false;
    arguments.is_in_place = call.input.data == MPI_IN_PLACE;
    arguments.input = {arguments.is_in_place ? call.result.data : call.input.data,
                       static_cast<MPI_Count>(request.block_begin(state.size())), call.result.type};
    arguments.result = {call.result.data, static_cast<MPI_Count>(request.block_units(state.rank())),
                        call.result.type};
    if ((!arguments.is_in_place && is_aliased(arguments.input, arguments.result)) ||
        is_bad(arguments.input, layout) || is_bad(arguments.result, layout))
        return false;
    set_combined(call, state, arguments.input.data, layout, arguments);
    return true;
}

/// Which of a call's buffers mean something on a rank.
struct Ends {
    bool has_input;
    bool has_result;

    Ends(const Call& call, int rank) {
        const CollectiveRow& row = row_of(call.collective);
        const bool is_other = row.is_rooted && rank != call.root;
        has_input = row.has_input && !(is_other && !row.runs_to_root);
        has_result = !(is_other && row.runs_to_root);
    }
};

/// The buffer that tells how long a message or a block is on this rank.
const UserBuffer& measure_of(const Call& call, const Ends& ends) {
    return ends.has_result && call.result.data != MPI_IN_PLACE ? call.result : call.input;
}

/// `block`, as the call has it, stands for `units` in all, which are blocks one after the other.
bool take(const UserBuffer& block, std::uint64_t units, UserBuffer& all, TypeLayout& layout) {
    if (!is_valid(block)) return false;
    layout = layout_of(block.type);
    if (is_too_large(block, layout) || is_bad(block, layout)) return false;
    all = block;
    const MPI_Count bytes = block.count * layout.size;
    if (bytes > 0) all.count *= static_cast<MPI_Count>(units) / bytes;
    return true;
}

/// Data that are only moved are bytes to LaPle. Where one of its two blocks is not as long as the other, the
/// others learn of it as of an error on the way.
bool find_moved(const Call& call, const CommState& state, Arguments& arguments) {
    const CollectiveRow& row = row_of(call.collective);
    const Ends ends(call, state.rank());
    arguments.is_in_place = ends.has_input && call.input.data == MPI_IN_PLACE;
    // A root that scatters keeps its block where it is sent from; all others have theirs where they get it.
    const bool is_scatter = row.is_rooted && !row.runs_to_root;
    if (arguments.is_in_place && is_scatter) return false;
    arguments.is_result_in_input =
        is_scatter && ends.has_input && ends.has_result && call.result.data == MPI_IN_PLACE;
    const UserBuffer& block = measure_of(call, ends);
    if (!is_valid(block)) return false;
    const TypeLayout layout = layout_of(block.type);
    if (is_too_large(block, layout) || is_bad(block, layout)) return false;
    Request& request = arguments.request;
    request.units = static_cast<std::uint64_t>(block.count * layout.size);
    // Of what the rank has that has most: the root, or all.
    const int blocks = row.has_input ? state.size() : 1;
    if (request.units > static_cast<std::uint64_t>(kMaxBytes / blocks)) return false;
    if (request.units == 0) return true;
    const BufferSizes sizes = row.buffers(request, state.size(), state.rank());
    if (ends.has_result && !arguments.is_result_in_input &&
        !take(call.result, sizes.result_units, arguments.result, arguments.result_layout))
        return false;
    if (!ends.has_input || arguments.is_in_place) return true;
    if (!take(call.input, sizes.input_units, arguments.input, arguments.input_layout)) return false;
    const MPI_Count bytes = call.input.count * arguments.input_layout.size;
    if (static_cast<std::uint64_t>(bytes) != request.units) arguments.operands.code = MPI_ERR_TRUNCATE;
    return true;
}

/// The blocks of both ends; false where MPI would refuse them.
bool find_blocks(const Call& call, const CommState& state, Arguments& arguments) {
    const Ends ends(call, state.rank());
    const CollectiveRow& row = row_of(call.collective);
    const bool is_at_both = ends.has_input && ends.has_result;
    arguments.is_in_place = ends.has_input && call.input.data == MPI_IN_PLACE;
    arguments.is_result_in_input = ends.has_result && call.result.data == MPI_IN_PLACE;
    // A root that scatters keeps its block where it is sent from; all others have theirs where they get it.
    const bool is_scatter = row.is_rooted && !row.runs_to_root;
    if (arguments.is_in_place && (is_scatter || !is_at_both)) return false;
    if (arguments.is_result_in_input && !(is_scatter && is_at_both)) return false;
    const bool has_several_out = row.is_personalized && !row.runs_to_root;  // at the root, or on all ranks
    const bool has_several_in = !row.is_rooted || row.runs_to_root;
    const auto take = [&](const UserBuffer& buffer, const UserBlocks& blocks, bool has_several,
                          std::vector<UserBlock>& found) {
        auto its_blocks = has_several ? blocks_of(buffer, blocks, state.size()) : block_of(buffer);
        if (its_blocks) found = std::move(*its_blocks);
        return its_blocks.has_value();
    };
    if (ends.has_result && !arguments.is_result_in_input &&
        !take(call.result, call.result_blocks, has_several_in, arguments.result_blocks))
        return false;
    return !ends.has_input || arguments.is_in_place ||
           take(call.input, call.input_blocks, has_several_out, arguments.input_blocks);
}

/// All ranks have the counts of all. They are bytes to LaPle.
bool find_gathered(const Call& call, const CommState& state, Arguments& arguments) {
    if (!find_blocks(call, state, arguments)) return false;
    Request& request = arguments.request;
    std::vector<std::uint64_t> bytes;
    std::uint64_t all = 0;
    for (const UserBlock& block : arguments.result_blocks) {
        if (is_too_large(block.buffer, block.layout)) return false;
        bytes.push_back(static_cast<std::uint64_t>(block.bytes()));
        all += bytes.back();
    }
    request.units = *std::max_element(bytes.begin(), bytes.end());
    if (all > static_cast<std::uint64_t>(kMaxBytes)) return false;
    if (std::any_of(bytes.begin(), bytes.end(),
                    [&](std::uint64_t of_rank) { return of_rank != request.units; }))
        request.counts = Counts(bytes);
    if (arguments.is_in_place) return true;
    const auto own = static_cast<std::uint64_t>(arguments.input_blocks.front().bytes());
    if (own != bytes[static_cast<std::size_t>(state.rank())]) arguments.operands.code = MPI_ERR_TRUNCATE;
    return true;
}

bool find_varied(const Call& call, const CommState& state, Arguments& arguments) {
    arguments.request = varied_request(call.collective, arguments.request.root);
    return find_blocks(call, state, arguments);
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
    const bool has_result =
        row.excludes_own ? state.rank() > 0 : !row.runs_to_root || state.rank() == call.root;
    arguments.request.collective = call.collective;
    arguments.request.root = row.is_rooted ? call.root : 0;
    if (!row.has_data) return find_of_barrier(arguments);
    if (row.is_in_parts) return find_combined_in_parts(call, state, arguments);
    if (call.has_blocks)
        return row.is_personalized ? find_varied(call, state, arguments)
                                   : find_gathered(call, state, arguments);
    return row.combines ? find_combined(call, state, has_result, arguments)
                        : find_moved(call, state, arguments);
}

bool has_lasting_handles(const Call& call, int rank) {
    if (call.has_blocks) return false;
    const Ends ends(call, rank);
    const auto is_lasting = [](const UserBuffer& buffer) {
        return buffer.data == MPI_IN_PLACE || buffer.type == MPI_DATATYPE_NULL || is_named(buffer.type);
    };
    return (!ends.has_input || is_lasting(call.input)) && (!ends.has_result || is_lasting(call.result)) &&
           (call.op == MPI_OP_NULL || is_predefined(call.op));
}

Bytes bytes_for_report(const Arguments& arguments) {
    if (!arguments.request.is_varied) return arguments.request.bytes();
    const std::vector<UserBlock>& blocks =
        arguments.result_blocks.empty() ? arguments.input_blocks : arguments.result_blocks;
    MPI_Count bytes = 0;
    for (const UserBlock& block : blocks) bytes += block.bytes();
    return static_cast<Bytes>(bytes) / std::max<std::size_t>(blocks.size(), 1);
}

Bytes reported_bytes(const Call& call, int rank) {
    const CollectiveRow& row = row_of(call.collective);
    if (call.has_blocks) return 0;
    const UserBuffer& block = row.combines ? call.result : measure_of(call, Ends(call, rank));
    if (block.count <= 0 || block.type == MPI_DATATYPE_NULL) return 0;
    int size = 0;
    PMPI_Type_size(block.type, &size);
    return static_cast<Bytes>(block.count) * static_cast<Bytes>(std::max(size, 0));
}

}  // namespace laple::mpi
