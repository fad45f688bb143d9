// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "collectives/strategy.hpp"
#include "situation.hpp"

namespace laple::plan {

/// What each strategy for `collective` takes inside one cluster of `situation`, the fastest first, as the
/// formula says and as the event simulator does. Throws Error when there is no such cluster.
std::string inside(const Situation& situation, LocalCollective collective, Bytes bytes, int cluster,
                   bool json);

/// Throws Error that lists the names for any other text.
LocalCollective local_collective(const std::string& name);

}  // namespace laple::plan
