// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "topology/node.hpp"
#include "topology/remembered_survey.hpp"

namespace laple {

/// The format of what an interrupted laple-discover writes:
///
///     "format": "laple-latencies-1",
///     "hosts": [names],
///     "latencies": [[host, host, seconds], ...]    hosts by their place in the list
inline constexpr const char* kUnfinishedFormat = "laple-latencies-1";

/// What is said to be farther cannot have been measured; and how long measuring takes depends on it.
inline constexpr Seconds kLongestLatency = std::chrono::minutes(1);

std::string unfinished_text(const std::vector<Node>& nodes, const RememberedSurvey::Latencies& known);

/// The latencies that such a document knows between `nodes`, in whatever order the hosts were then; those to
/// other hosts are left out. Throws Error for what is wrong, and when nodes share a name.
RememberedSurvey::Latencies parse_unfinished(const JsonDocument& document, const std::vector<Node>& nodes);

}  // namespace laple
