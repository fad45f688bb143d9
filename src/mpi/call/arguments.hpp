// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "collectives/collective/request.hpp"
#include "mpi/call/call.hpp"
#include "mpi/call/user_blocks.hpp"
#include "mpi/comm/comm_state.hpp"
#include "mpi/exec/operation.hpp"

namespace laple::mpi {

/// A call whose arguments are such that LaPle may treat it.
struct Arguments {
    Request request;
    /// Of what is combined: memory and operation, ready to run. Of what is only moved, packed_message.hpp
    /// makes them.
    Operands operands;
    /// What is only moved, or combined in parts, as the user has it: all of it. No bytes where this rank has
    /// none.
    UserBuffer input{nullptr, 0, MPI_BYTE};
    UserBuffer result{nullptr, 0, MPI_BYTE};
    TypeLayout input_layout{1, 1, 0, 1, true};  ///< of one element of each
    TypeLayout result_layout{1, 1, 0, 1, true};
    bool is_in_place = false;         ///< the input is in the result
    bool is_result_in_input = false;  ///< the root keeps its own block where it is (MPI_Scatter)
    /// Where blocks have counts of their own: those that this rank has for others, none where they are in the
    /// result, and those that it gets.
    std::vector<UserBlock> input_blocks;
    std::vector<UserBlock> result_blocks;
};

/// Fills in `arguments`, which are as they are made. False where MPI's own call must do it: arguments that
/// MPI would refuse, or that LaPle cannot treat exactly. By MPI's rules the answer is the same on all ranks.
bool find_arguments(const Call& call, const CommState& state, Arguments& arguments);

/// What is said of those calls, for people.
inline constexpr const char* kBetweenGroups = "LaPle leaves intercommunicators to MPI";
inline constexpr const char* kNotTakenReason = "LaPle leaves such types, operations and counts to MPI";

/// Whether the call's handles and counts mean the same whenever they are seen again. Those that mean nothing
/// on this rank may be no handles. `rank`: this one in the call's communicator.
bool has_lasting_handles(const Call& call, int rank);

/// The size of a message, or of a block, for the report; of blocks that differ, what one has that this rank
/// gets, or else sends, on the average.
Bytes bytes_for_report(const Arguments& arguments);
/// The same where LaPle does nothing with the call; 0 where blocks differ, and when MPI is about to
/// refuse the call. `rank`: this one in the call's communicator.
Bytes reported_bytes(const Call& call, int rank);

}  // namespace laple::mpi
