// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/cost/machine_costs.hpp"

namespace laple {

/// What a network carries at most now, where that is less than when it was measured. Bytes a second; 0: as
/// measured.
class RateLimits {
  public:
    /// None, between so many clusters.
    explicit RateLimits(int clusters)
        : out(static_cast<std::size_t>(clusters)), in(out.size()), links_(out.size() * out.size()) {}

    std::vector<double> out;  ///< of the uplink of each cluster
    std::vector<double> in;

    int clusters() const { return static_cast<int>(out.size()); }
    double& link(int from, int to) {
        return links_[static_cast<std::size_t>(from) * out.size() + static_cast<std::size_t>(to)];
    }
    double link(int from, int to) const {
        return links_[static_cast<std::size_t>(from) * out.size() + static_cast<std::size_t>(to)];
    }

    bool are_none() const;
    /// Whether `other` limits the same uplinks and links.
    bool are_where(const RateLimits& other) const;
    /// With `scale` times those rates that are not as in `other`.
    RateLimits with_changed(const RateLimits& other, double scale) const;

    bool operator==(const RateLimits&) const = default;

  private:
    std::vector<double> links_;
};

/// `measured` with these limits. Of a limited network no times of whole calls are known: those were of
/// another one.
MachineCosts with_limits(MachineCosts measured, const RateLimits& limits);

}  // namespace laple
