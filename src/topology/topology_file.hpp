// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "topology/node.hpp"
#include "topology/topology.hpp"

namespace laple {

/// The format of what laple-discover --json writes. Members that concern the topology:
///
///     "format": "laple-model-1",
///     "ranks": 4,                                  how many ranks MPI_COMM_WORLD has
///     "levels": [ [[0, 1], [2, 3]], ... ]          outermost first; a level is a list of groups of ranks
///
/// What else the document holds is not looked at here.
inline constexpr const char* kModelFormat = "laple-model-1";

/// Reads those members. Throws Error, with file, line and JSON pointer, for a level that does not hold every
/// rank exactly once or does not refine the level before it, and for whatever else is missing or wrong.
Topology parse_topology_json(const JsonDocument& document);

/// Puts those members into `document`.
void write_topology_json(const Topology& topology, Json& document);

/// Reads the member of a model that concerns levels inside hosts:
///
///     "node_levels": [{"kind": "node", "groups": [[0, 1], [2, 3]]}, ...]      outermost first
///
/// Without it there are none. Throws Error, with file, line and JSON pointer, for a kind that is unknown or
/// out of order, for a level that does not hold each of `ranks` ranks exactly once or does not refine the
/// level before it, and for whatever else is missing or wrong.
std::vector<NodeLevel> parse_node_levels(const JsonReader& in, int ranks);

/// Puts that member into `document`.
void write_node_levels(const std::vector<NodeLevel>& levels, Json& document);

/// Whether a topology file is JSON: its first character says so.
bool is_json_topology(const std::string& text);

/// Reads what LAPLE_TOPOLOGY may name: a magpie_clusters file, or the JSON of laple-discover --json, which
/// begins with "{" and can tell of several levels. `file` is used in messages only. Throws Error with the
/// place of whatever is wrong and, when `world_size` > 0, for a file made for another number of ranks.
Topology parse_topology(const std::string& text, const std::string& file, int world_size = 0);

}  // namespace laple
