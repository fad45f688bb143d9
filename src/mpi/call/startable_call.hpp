// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include "mpi/call/arguments.hpp"
#include "mpi/comm/comm_state.hpp"
#include "mpi/comm/kept_handles.hpp"
#include "mpi/comm/own_request.hpp"
#include "mpi/comm/plan_cache.hpp"

namespace laple::mpi {

/// A call that LaPle can start; a persistent one again and again. Keeps all that it needs, whatever the
/// program frees.
struct StartableCall {
    StartableCall(std::shared_ptr<CommState> its_state, std::shared_ptr<const PreparedPlan> its_plan,
                  Arguments its_arguments, std::string_view its_function);

    std::shared_ptr<CommState> state;
    std::shared_ptr<const PreparedPlan> plan;
    Arguments arguments;
    std::string_view function;  ///< MPI's name of it
    KeptHandles handles;
    OwnRequest request;
};

}  // namespace laple::mpi
