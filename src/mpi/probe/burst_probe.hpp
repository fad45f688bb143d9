// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/probe/flow_probe.hpp"

namespace laple::mpi {

/// Sends or gets `bytes` once at each of this node's ends, all at the same time; the peers do the same. All
/// that send begin together, `rest` after receivers and connections are ready:
///
///     receivers ──ready──> senders ──ready──> first <──go──> senders ─ rest ─ all data ─> receivers ──got──>
///
/// `first` is one of those that send. Returns, for each end that sends, in order, the time from there until
/// it knows that all has arrived.
std::vector<Seconds> run_bursts(MPI_Comm probes, const std::vector<FlowEnd>& ends,
                                const std::vector<int>& senders, Bytes bytes, Seconds rest);

}  // namespace laple::mpi
