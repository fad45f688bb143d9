// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>

#include <mpi.h>

#include "collectives/planner/slowness_watch.hpp"

namespace laple::mpi {

/// A barrier that LaPle would do itself.
struct TimedBarrier {
    Seconds predicted;
    std::function<void()> run;
};

/// How many times as long as predicted collectives take on the communicator `inner`; on its rank 0,
/// elsewhere 0. Collective, after a call that SlownessWatch says is due.
///
/// Two looks, and the slower one counts. Of long messages the watch's own calls tell: the least time of all
/// ranks is nearly that of all. Of short ones they tell nothing: a rank that is late by as much as the
/// network is slow finds all messages there. So barriers are measured, right after one that lets no rank be
/// later than the network makes it; the mean of all ranks' times is then the network's: what one comes late,
/// others wait. The fastest of several counts: a packet that is lost now and then makes no slow network.
/// Without `barrier` (MPI's own is as good, or too short to tell) the first look is all.
double find_slowness(const SlownessWatch::Ratios& ratios, const std::optional<TimedBarrier>& barrier,
                     MPI_Comm inner);

}  // namespace laple::mpi
