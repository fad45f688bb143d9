// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>

#include <mpi.h>

#include "mpi/comm/process.hpp"

namespace laple::mpi {

enum class Content : int {
    nothing,
    agreement,
    measure,          ///< all are to measure the network
    measure_rates,    ///< all are to go on measuring rates of the network
    measure_natives,  ///< all are to measure MPI's own collectives
    unknown,          ///< no model is known for the hosts as the source sees them: all are to gather them
};

/// What a rank broadcasts to all others of a communicator.
struct Payload {
    Content content = Content::nothing;
    std::optional<Agreement> agreement;
};

/// What `payload` is on the source, on all ranks: one broadcast, or two when it is large. Nothing after an
/// MPI error. `meanwhile` is called in the time that it takes: another collective on `comm`, on all ranks, or
/// on none.
Payload broadcast(MPI_Comm comm, int source, const Payload& payload,
                  const std::function<void()>& meanwhile = {});

}  // namespace laple::mpi
