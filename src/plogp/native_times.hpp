// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plogp/curve.hpp"

namespace laple {

/// How long MPI's own collectives take on all ranks of a job, by the bytes of the message: from the agreed
/// start of a call until the last rank is out of it, with root 0.
struct NativeTimes {
    int ranks = 0;  ///< 0: not measured
    Curve bcast;
    Curve reduce;
    Curve allreduce;
    Curve barrier;  ///< of size 0

    bool operator==(const NativeTimes&) const = default;
};

}  // namespace laple
