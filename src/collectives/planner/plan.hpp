// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/collective/request.hpp"
#include "plogp/job_times.hpp"
#include "topology/machine.hpp"

namespace laple {

/// How one call will be done, the same on every rank: a pure function of request, machine and settings.
struct Plan {
    Request request;
    AlgorithmPtr algorithm;  ///< never nullptr
    std::string reason;      ///< why this one, for people
    SendWindows windows = {};
    int streams = 0;       ///< connections between two hosts of different clusters; 0: messages go by MPI
    Seconds predicted{0};  ///< 0: not known
    Seconds native{0};     ///< the same call by MPI's own algorithm; 0: not known
    bool is_native_measured = false;
    /// Connections of MPI's carry more than was measured of them, and the plan goes by streams instead.
    bool is_native_at_most = false;
    bool is_as_calls_took = false;    ///< the times come from calls in earlier jobs
    std::vector<Seconds> tried = {};  ///< what such calls took in earlier jobs (known_calls.hpp)
    std::string passed_over = {};     ///< a rule that cannot be followed here, and why; empty: none

    bool is_native() const { return algorithm->is_native(); }
    /// For people, and to know it again: that of the algorithm, "+streams" where it goes by these.
    std::string name() const {
        return algorithm->name() + std::string(streams > 0 ? CallTime::kByStreams : "");
    }
    Segments segments() const { return algorithm->segments(request); }
};

/// This rank's steps of a plan that is not native.
inline Schedule expand(const Plan& plan, const Machine& machine, Rank rank) {
    return expand(*plan.algorithm, {plan.request, machine, plan.windows, rank});
}

/// The schedules of all ranks.
inline std::vector<Schedule> expand_all(const Plan& plan, const Machine& machine) {
    std::vector<Schedule> schedules;
    for (Rank rank = 0; rank < machine.rank_count(); ++rank) schedules.push_back(expand(plan, machine, rank));
    return schedules;
}

}  // namespace laple
