// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/median.hpp"
#include "plogp/curve.hpp"
#include "plogp/plogp.hpp"

namespace laple {

/// How long calls of programs took by one plan, from a common start until the last rank was out: trials of
/// earlier jobs have found it (collectives/planner/trials.hpp).
struct CallTime {
    /// What the name of an algorithm ends with where messages went by streams.
    static constexpr std::string_view kByStreams = "+streams";
    /// The name of MPI's own, which knows no streams.
    static constexpr std::string_view kByMpi = "native";

    std::string collective;
    Bytes bytes = 0;  ///< of the size class
    int root = 0;
    std::string algorithm;
    std::vector<Seconds> times;  ///< the last ones, in their order; not empty
    Seconds predicted{0};        ///< before it was tried

    bool operator==(const CallTime&) const = default;
};

/// The median of its times.
inline Seconds usual_time(const CallTime& call) {
    std::vector<double> times;
    for (const Seconds time : call.times) times.push_back(time.count());
    return Seconds(median(times));
}

/// Clusters are near within such a latency of each other: their ranks may share processors.
constexpr Seconds kNearClusters{2e-3};

/// What was measured with all ranks of a job: how long MPI's own collectives take, by the bytes of the
/// message, from the agreed start of a call until the last rank is out of it, with root 0; messages inside
/// hosts; and calls of programs.
struct JobTimes {
    int ranks = 0;  ///< 0: nothing was measured
    std::map<std::string, Curve, std::less<>>
        times;  ///< by the name of the collective; a barrier's of size 0
    /// Of an empty message from each rank to each other one, all at once, where clusters are near; 0: not
    /// measured.
    Seconds exchange{0};
    Plogp memory = {};  ///< between two ranks of a host, while all are at work; without curves: not measured
    /// Those of one collective, size class and root in the order of what was found best.
    std::vector<CallTime> calls = {};
    bool is_unfinished = false;  ///< there was no time for all of `times`: later jobs go on
    /// How long later jobs with these ranks may still measure: rates after the third job, MPI's own
    /// collectives after the first. A share of what jobs have lasted while something was missing, less what
    /// they have spent.
    Seconds allowance{0};

    /// Empty where it was not measured.
    const Curve& of(std::string_view collective) const {
        static const Curve kNone;
        const auto found = times.find(collective);
        return found == times.end() ? kNone : found->second;
    }

    /// These have been measured since `before` was read; `kept` is what there is now. The calls of other
    /// jobs, and what those have allowed to measure, are taken over.
    void add_what_others_kept(const JobTimes& before, const JobTimes& kept) {
        const Seconds spent = before.allowance - allowance;
        allowance = std::max(kept.allowance - spent, Seconds(0));
        calls = kept.calls;
        ranks = std::max(ranks, kept.ranks);
    }

    bool operator==(const JobTimes&) const = default;
};

}  // namespace laple
