// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "collectives/simulation/simulator.hpp"
#include "topology/machine.hpp"

namespace laple::plan {

/// For ui.perfetto.dev and chrome://tracing: a track for each rank, with what it sends and receives, and
/// arrows between them. `host_names`: as in Situation, as of svg_of().
std::string trace_of(const std::vector<SimulatedMessage>& messages, const Machine& machine,
                     const std::vector<std::string>& host_names);

/// A picture: a line for each rank, its sends as bars, messages as lines between them; by colour those to
/// other clusters, to other hosts, and on a host. Hosts of several ranks are boxes.
std::string svg_of(const std::vector<SimulatedMessage>& messages, const Machine& machine,
                   const std::vector<std::string>& host_names, const std::string& title);

}  // namespace laple::plan
