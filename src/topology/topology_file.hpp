// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "topology/topology.hpp"

namespace laple {

/// Whether a topology file is JSON: its first character says so.
bool is_json_topology(const std::string& text);

/// Reads what LAPLE_TOPOLOGY may name: a magpie_clusters file, or the JSON of laple-discover --json, which
/// begins with "{" and can tell of several levels. `file` is used in messages only. Throws Error with the
/// place of whatever is wrong and, when `world_size` > 0, for a file made for another number of ranks.
Topology parse_topology(const std::string& text, const std::string& file, int world_size = 0);

}  // namespace laple
