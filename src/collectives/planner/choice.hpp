// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "collectives/algorithms/candidate.hpp"

namespace laple {

/// What `found` says is best, of those that `may_use` allows: of nearly equal ones (is_nearly_as_fast) the
/// simplest (is_simpler in choice.cpp says why and in which order); and MPI's own call unless another one is
/// clearly better (kWorthwhile), for it costs nothing to try. `found`: the fastest first. nullptr when none
/// is allowed.
const Candidate* best_of(const std::vector<Candidate>& found,
                         const std::function<bool(const Algorithm&)>& may_use);

/// Whether `candidate` takes nearly as long as `fastest`, so that the simpler one is taken.
bool is_nearly_as_fast(const Candidate& candidate, const Candidate& fastest);

/// The same as kNearlyEqual (pricing.hpp) if the fastest is a pipeline that keeps a NIC busy most of the
/// time, and the other one loads its NICs clearly less: on emulated grids the former took up to a fifth
/// longer than predicted. Not if more clusters relay the other one, each of which waits for the delays of
/// those before it: 64 KiB to two sites took 1.1 to 1.5 times as long over one of them as straight.
inline constexpr double kNearlyEqualIfLessBusy = 1.08;

/// A prediction must be so much shorter than that of MPI's own call, and by Candidate::uncertainty more.
inline constexpr double kWorthwhile = 0.95;

}  // namespace laple
