// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/trees/send_order.hpp"

namespace laple::plan {

/// The experiment of Barchet-Estefanel and Mounié, 2006: random networks of `clusters` clusters, symmetric,
/// gaps of 0.10 to 0.60 s, latencies of 1 to 15 ms, local times of 0.02 to 3 s.
struct MonteCarloOptions {
    std::vector<int> clusters;
    int runs = 10000;
    std::uint64_t seed = 1;
    LocalPhase phase = LocalPhase::after_sends;
    bool improve = false;  ///< "best" too: exact or local search, which takes its time
};

/// How one heuristic has done in networks of one size.
struct Score {
    std::string name;
    double mean = 0;      ///< makespan in seconds
    double ratio = 0;     ///< mean of makespan by the best one of the run
    double hit_rate = 0;  ///< runs in which no other one was better
};
struct MonteCarloRow {
    int clusters = 0;
    std::vector<Score> scores;  ///< in the order of heuristics(), then "portfolio" and "best"
};

/// All rows, on as many threads as there are cores; the same for the same options on any number of them.
std::vector<MonteCarloRow> monte_carlo(const MonteCarloOptions& options);

std::string text_of(const std::vector<MonteCarloRow>& rows, const MonteCarloOptions& options);
std::string json_of(const std::vector<MonteCarloRow>& rows, const MonteCarloOptions& options);

}  // namespace laple::plan
