// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/json_reader.hpp"
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

/// Reads a list of groups of ranks: the group of each of `ranks` ranks, by its place in the list. Throws
/// Error unless every rank is in it exactly once.
std::vector<int> read_groups(const JsonReader& in, const std::string& pointer, int ranks);

/// Puts those members into `document`.
void write_topology_json(const Topology& topology, Json& document);

}  // namespace laple
