// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/json_reader.hpp"
#include "topology/node_level.hpp"

namespace laple {

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

}  // namespace laple
