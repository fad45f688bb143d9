// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "collectives/cost/machine_costs.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/simulation/simulator.hpp"
#include "topology/machine.hpp"

namespace laple {

/// How long the segments of a call kept coming from one cluster to another: the longest time from the first
/// to the last one that a rank got from a rank there.
///
///     sender     ├──┤├──┤├──┤├──┤
///     receiver         |   |   |   |
///                      └── span ───┘
///
/// It is the rate of the link, or of what feeds it. When ranks enter the call, and by whose clocks, does not
/// matter; nor does how far the link is.
class LinkSpans {
  public:
    /// Fewer segments tell nothing.
    static constexpr std::size_t kLeast = 4;

    explicit LinkSpans(int clusters)
        : clusters_(static_cast<std::size_t>(clusters)),
          seconds_(clusters_ * clusters_),
          bytes_(seconds_.size()) {}

    /// A message that rank `me` got: its times are of one clock.
    struct Arrival {
        Rank from = 0;
        Bytes bytes = 0;
        Seconds time{0};
    };
    /// Those of one call.
    void add(std::span<const Arrival> arrivals, Rank me, const Machine& machine);

    /// 0 where there were too few segments.
    double seconds(int from, int to) const { return seconds_[at(from, to)]; }
    /// Row by row.
    const std::vector<double>& all() const { return seconds_; }
    /// That came in these times.
    double bytes(int from, int to) const { return bytes_[at(from, to)]; }

  private:
    std::size_t at(int from, int to) const {
        return static_cast<std::size_t>(from) * clusters_ + static_cast<std::size_t>(to);
    }

    std::size_t clusters_;
    std::vector<double> seconds_;
    std::vector<double> bytes_;
};

/// How far `spans` are from those that were `seen`, both row by row: the sum of squares of the logarithms of
/// what they are by each other, where both are known. Long ones count for more: they are what calls take, and
/// less left to chance.
double distance(std::span<const double> seen, std::span<const double> spans);

/// Of all ranks in a simulated call.
LinkSpans spans_of(std::span<const SimulatedMessage> messages, const Machine& machine);

/// Of a call by `plan`, in simulation. Throws Error as simulated_messages().
LinkSpans predicted_spans(const Plan& plan, const Machine& machine, const MachineCosts& costs);

}  // namespace laple
