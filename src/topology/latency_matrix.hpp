// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace laple {

/// One-way latencies between `nodes` nodes, numbered from 0. Symmetric; the diagonal is 0, as is all that
/// was never set. (The distance matrix of Barchet-Estefanel and Mounié, 2004.)
class LatencyMatrix {
  public:
    /// Throws Error when `nodes` is negative.
    explicit LatencyMatrix(int nodes);

    int nodes() const { return nodes_; }

    Seconds at(int a, int b) const { return latencies_[index(a, b)]; }

    /// Sets (a, b) and (b, a). Throws Error when the latency is negative, infinite or no number, or when
    /// a and b are the same node or none.
    void set(int a, int b, Seconds latency);

    bool operator==(const LatencyMatrix&) const = default;

  private:
    std::size_t index(int a, int b) const {
        return static_cast<std::size_t>(a) * static_cast<std::size_t>(nodes_) + static_cast<std::size_t>(b);
    }

    int nodes_ = 0;
    std::vector<Seconds> latencies_;
};

/// A table for people, six columns of text for each node, two significant digits or more:
///
///     one-way latency
///                 0     1     2
///        0 n1     -  98us  10ms
///        1 n2  98us     - 9.9ms
///        2 n3  10ms 9.9ms     -
///
/// `names[i]` is the name of node i; a missing one is left out.
std::string format_table(const LatencyMatrix& matrix, const std::vector<std::string>& names = {});

}  // namespace laple
