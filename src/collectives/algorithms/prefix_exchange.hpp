// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "collectives/algorithms/candidate.hpp"
#include "collectives/algorithms/name.hpp"
#include "collectives/algorithms/pricing.hpp"

namespace laple {

inline constexpr std::string_view kPrefixExchange = "prefix-exchange";

/// prefix-exchange[/SHAPE][@SEGMENT] (prefix.cpp). Throws Error where that is not what `name` is.
AlgorithmPtr parse_prefix_exchange(const AlgorithmName& name);

/// Adds those of some shapes and segments. The machine's hosts and clusters must be runs of ranks.
void propose_prefix_exchanges(Pricing& pricing, std::vector<Candidate>& found);

}  // namespace laple
