// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/algorithms/candidate.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/rules.hpp"
#include "situation.hpp"

namespace laple::plan {

/// The choice for one call, and all that it was chosen from, best first; nothing where LaPle always leaves
/// the call to MPI.
struct Explanation {
    Request request;
    std::string function;  ///< what the user calls the collective, where blocks differ; else empty
    Rules rules;
    Plan plan;
    std::vector<Candidate> candidates;
    bool are_by_streams = false;    ///< LaPle's of them
    std::optional<Plan> other_way;  ///< the best of LaPle's by streams, or without, as those are not
};

/// Throws Error where the request makes no sense on this topology.
Explanation explain(const Request& request, const Situation& situation, const Rules& rules);

/// The request that a user means: element counts of 8 bytes for reductions. Throws Error for an unknown name.
Request request_named(const std::string& collective, Bytes bytes, Rank root, int ranks);

/// For people: the choice, what its time is made of, what the others would take and why.
std::string text_of(const Explanation& explanation, const Situation& situation, int most_rows);
std::string json_of(const Explanation& explanation, const Situation& situation);
/// The tree of ranks, for Graphviz.
std::string dot_of(const Explanation& explanation, const Situation& situation);

/// "the busiest NIC of cluster 0", "the uplink of cluster 2", ...
std::string describe(const Binding& binding);

/// "0 -> 1, 0 -> 2, 2 -> 3": who sends to whom between clusters.
std::string describe(const SendOrder& order);

}  // namespace laple::plan
