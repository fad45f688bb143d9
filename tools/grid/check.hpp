// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/units.hpp"
#include "grid/layout.hpp"
#include "grid/scenario.hpp"

namespace laple::grid {

/// Two hosts between which `check` measures, and what the scenario states for them.
struct CheckedPair {
    std::size_t from_site = 0;
    std::size_t to_site = 0;
    HostLayout from;
    HostLayout to;
    Seconds round_trip{};
    double rate_bps = 0;  ///< of one TCP flow, without headers
    double loss = 0;
};

/// One pair inside each site of two or more hosts, and the first hosts of each two sites.
std::vector<CheckedPair> pairs_to_check(const Scenario& scenario, const GridLayout& layout);

/// Pairs that can be measured at the same time: they share no host and no uplink, and their sum leaves the
/// machine room. Each round lists indices.
std::vector<std::vector<std::size_t>> rounds_to_check(const std::vector<CheckedPair>& pairs);

/// Measures a raised grid and prints a table on stdout. True when every figure is as stated. Calls
/// `check_wanted` between rounds, which may throw to give up.
bool check_grid(const Scenario& scenario, const GridLayout& layout,
                const std::function<void()>& check_wanted);

}  // namespace laple::grid
