// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collectives/algorithms/candidate.hpp"
#include "collectives/collective/collective.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/trials.hpp"
#include "plogp/job_times.hpp"

namespace laple {

/// What earlier jobs have found out by trial about calls of one kind: a collective, a size class and a root.
/// Measured times count for more than predicted ones. Of blocks whose counts differ nothing is kept: hardly
/// two jobs have the same.
class KnownCalls {
  public:
    /// Of a job with `ranks` ranks; nothing is known of another one.
    KnownCalls(const Request& request, const JobTimes& job, int ranks);

    /// Of `found`, the one that was found best of those that `may_use` allows; nullptr: nothing is known.
    const Candidate* best_of(const std::vector<Candidate>& found,
                             const std::function<bool(const Algorithm&)>& may_use) const;
    /// Whether calls by MPI are all that is known.
    bool is_of_native_alone() const;
    /// nullptr: it was not tried.
    const CallTime* of(const Algorithm& algorithm) const;

  private:
    std::vector<const CallTime*> calls_;  // the best one first
};

/// What trials of `plans`, all for one kind of calls, have found: the best one first, then the others that
/// were tried.
std::vector<CallTime> calls_by_trial(const std::vector<Plan>& plans, const Trials& trials);

/// Puts what was found `anew` before what is `known` already, of which the same plans for the same calls are
/// dropped. Where there are too many, those that were not seen for long are forgotten.
void add_calls(const std::vector<CallTime>& anew, std::vector<CallTime>& known);

/// The same in one job, where communicators, or plans that were made anew, have each tried for themselves: of
/// calls of one kind those count that were timed more often.
void gather_calls(const std::vector<CallTime>& others, std::vector<CallTime>& calls);

}  // namespace laple
