// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>

#include "base/units.hpp"

namespace laple {

/// A time that depends on the size of a message, known at some sizes.
///
/// Between two of them it is a straight line; beyond the last one, the line through the last two goes on, but
/// never downwards; with one size known it is constant, with none 0. (logp_mpi; algorithms.md 3c, point 6)
///
///     time │            ╱ ‥ ‥          * known
///          │      *────*
///          │  *──╱
///          └──────────────── bytes
class Curve {
  public:
    Curve() = default;
    explicit Curve(std::map<Bytes, Seconds> known) : known_(std::move(known)) {}

    bool is_empty() const { return known_.empty(); }
    const std::map<Bytes, Seconds>& known() const { return known_; }

    Seconds at(Bytes bytes) const;

    void set(Bytes bytes, Seconds time) { known_[bytes] = time; }

    /// Raises every time to the longest one at a smaller size. Returns by how much the worst was raised, as a
    /// part of itself: 0 when the curve never falls.
    double make_monotone();

    bool operator==(const Curve&) const = default;

  private:
    std::map<Bytes, Seconds> known_;
};

}  // namespace laple
