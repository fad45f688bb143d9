// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <mpi.h>

#include "base/units.hpp"

namespace laple::mpi {

/// This rank's end of some connections, which another one of `probes` makes with it.
struct StreamEnd {
    int peer = 0;
    int connections = 0;
    Seconds round_trip{0};
    Seconds duration{0};
};

/// Makes the connections, sends by them as much as they carry, and receives what the peer sends, for
/// `duration`. Returns the bytes a second that came; nothing where they cannot be made, or break. The peer
/// calls this at the same time. LAPLE_STREAM_INTERFACE and LAPLE_STREAM_PORTS are heeded.
std::optional<double> run_streams(MPI_Comm probes, const StreamEnd& end);

}  // namespace laple::mpi
