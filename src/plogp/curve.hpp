// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace laple {

/// A time that depends on the size of a message, known at some sizes.
///
/// Between two of them it is a straight line; beyond the last one, the line goes on through it and the last
/// one of at most half its size, but never downwards; with one size known it is constant, with none 0.
/// (Kielmann, Bal, Verstoep, 2000)
///
///     time │            ╱ ‥ ‥          * known
///          │      *────*
///          │  *──╱
///          └──────────────── bytes
class Curve {
  public:
    Curve() = default;
    explicit Curve(const std::map<Bytes, Seconds>& known) : known_(known.begin(), known.end()) {}

    bool is_empty() const { return known_.empty(); }
    /// Ordered by size, each once.
    const std::vector<std::pair<Bytes, Seconds>>& known() const { return known_; }

    Seconds at(Bytes bytes) const;
    /// nullptr where that size is not known.
    const Seconds* find(Bytes bytes) const;

    void set(Bytes bytes, Seconds time);

    /// Times that fall as the size grows become equal, at their mean: of all curves that never fall the
    /// nearest (least squares; "pool adjacent violators"). Returns by how much the worst was changed.
    Seconds make_monotone();

    bool operator==(const Curve&) const = default;

  private:
    std::vector<std::pair<Bytes, Seconds>> known_;
};

}  // namespace laple
