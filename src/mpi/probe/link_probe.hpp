// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "mpi/probe/waiting.hpp"
#include "plogp/link_survey.hpp"

namespace laple::mpi {

/// Measures the link to `peer`, who calls answer_link(): for sizes that SizeSearch chooses, round trips (m
/// bytes there, none back), the time in the send call, and in the receive call of a message that is there
/// already; floods; on a far link also the first message after a pause. Until patience is over; size 0 is
/// always measured. (Kielmann, Bal, Verstoep, 2000)
PlogpSamples measure_link(MPI_Comm probes, int peer, const LinkProbeOptions& options,
                          const Patience& patience);

/// The other half.
void answer_link(MPI_Comm probes, int peer);

}  // namespace laple::mpi
