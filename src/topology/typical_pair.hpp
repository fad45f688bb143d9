// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "topology/survey.hpp"

namespace laple {

/// By cluster, the first of the pairs that were `measured` in it whose latency is the usual one there: the
/// median, but for noise; and up to two more, none of which have a node in common. What is measured between
/// their nodes holds for the others, too; between two virtual machines on one host it does not.
///
///     a ─10us─ b   c   d     a, b: one host; all others are 50us apart: a and c are typical, b and d, too
TypicalPairs typical_pairs(std::span<const PairLatency> measured, const Clusters& clusters);

/// The same by all pairs.
TypicalPairs typical_pairs(const LatencyMatrix& matrix, const Clusters& clusters);

}  // namespace laple
