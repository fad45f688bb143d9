// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective/collective.hpp"

namespace laple::bench {

using laple::Collective;
using laple::kAllCollectives;

/// "bcast", "reduce", ...: as on the command line, in the table and in the JSON.
std::string to_string(Collective collective);

/// The names of all collectives, in the order of kAllCollectives.
std::vector<std::string> collective_names();

/// The collective of that name. Throws Error, naming the nearest one, when there is none.
Collective parse_collective(std::string_view name);

inline bool has_root(Collective c) {
    return row_of(c).is_rooted;
}
inline bool has_data(Collective c) {
    return row_of(c).has_data;
}

}  // namespace laple::bench
