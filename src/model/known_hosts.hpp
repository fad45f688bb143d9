// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "topology/node.hpp"

namespace laple {

/// The format of what a job keeps of its hosts, so that the next one with the same ranks there need not
/// gather them:
///
///     "format": "laple-hosts-1",
///     "hosts": [{"name": text, "id": text, "ranks": [numbers]}, ...]    as in Node
inline constexpr const char* kHostsFormat = "laple-hosts-1";

std::string hosts_text(const std::vector<Node>& nodes);

/// The nodes of such a document, in the order of their first ranks. Throws Error for what is wrong, and where
/// they do not have each of `ranks` ranks once, and each at least one of them.
std::vector<Node> parse_hosts(const JsonDocument& document, int ranks);

}  // namespace laple
