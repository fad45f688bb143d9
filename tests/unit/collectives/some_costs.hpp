// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <random>

#include "collectives/cost/machine_costs.hpp"

namespace laple::test {

/// Sites `far` apart with hosts and flows of `rate` bytes a second each, and no uplinks: what
/// SimulatedNetwork simulates exactly.
inline MachineCosts uniform_costs(int clusters, Seconds far, double rate) {
    MachineCosts costs(clusters);
    costs.shares_ports = false;
    const auto line = [&](double bytes_per_second) {
        return Curve({{0, Seconds(20e-6)}, {1 << 20, Seconds(20e-6 + (1 << 20) / bytes_per_second)}});
    };
    for (int a = 0; a < clusters; ++a) {
        for (int b = 0; b < clusters; ++b) {
            MachineCosts::Link& link = costs.link(a, b);
            link.latency = a == b ? 50e-6 : far.count();
            link.gap = link.stream = line(rate);
        }
    }
    return costs;
}

/// Every link its own latency and rate, both directions different.
inline MachineCosts random_costs(int clusters, std::mt19937_64& random) {
    const auto draw = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    MachineCosts costs = uniform_costs(clusters, Seconds(1e-3), 1e8);
    for (int a = 0; a < clusters; ++a) {
        costs.cluster(a).reduction = draw(0, 1e-10);
        for (int b = 0; b < clusters; ++b) {
            MachineCosts::Link& link = costs.link(a, b);
            const double rate = a == b ? draw(50e6, 2e8) : draw(5e6, 5e7);
            link.latency = a == b ? draw(10e-6, 100e-6) : draw(1e-3, 40e-3);
            const double start = draw(5e-6, 50e-6);
            link.gap = link.stream =
                Curve({{0, Seconds(start)}, {1 << 20, Seconds(start + (1 << 20) / rate)}});
        }
    }
    return costs;
}

}  // namespace laple::test
