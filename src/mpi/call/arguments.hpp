// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/collective/request.hpp"
#include "mpi/call/call.hpp"
#include "mpi/comm/comm_state.hpp"
#include "mpi/exec/operation.hpp"

namespace laple::mpi {

/// A call whose arguments are such that LaPle may treat it.
struct Arguments {
    Request request;
    /// Of what is combined: memory and operation, ready to run. Of what is only moved, packed_message.hpp
    /// makes them.
    Operands operands;
    /// What is only moved, as the user has it: all of it.
    UserBuffer input;
    UserBuffer result;
    TypeLayout input_layout{};  ///< of one element of each
    TypeLayout result_layout{};
    bool is_in_place = false;  ///< the input is in the result
};

/// Fills in `arguments`, which are as they are made. False where MPI's own call must do it: arguments that
/// MPI would refuse, or that LaPle cannot treat exactly. By MPI's rules the answer is the same on all ranks.
bool find_arguments(const Call& call, const CommState& state, Arguments& arguments);

/// A message's size for the report; 0 when MPI is about to refuse the call.
Bytes reported_bytes(const Call& call);

}  // namespace laple::mpi
