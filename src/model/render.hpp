// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "model/model.hpp"

namespace laple {

/// A picture for Graphviz: hosts in their clusters, these in their groups, and between clusters the latency.
std::string dot_text(const Model& model);

/// A picture for browsers:
///
///     ┌ group ───────────────┐
///     │ ┌ cluster ┐ ┌ ─────┐ │   every level a box in the one outside it, hosts inside,
///     │ │ a-1 a-2 │ │ b-1  │ │   each box with the latency in it where that is known
///     │ └─────────┘ └──────┘ │
///     └──────────────────────┘
std::string svg_text(const Model& model);

}  // namespace laple
