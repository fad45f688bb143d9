// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace laple {

/// Who measures with whom, when nodes that stand side by side in an order are expected to belong together and
/// some of them have a place already.
///
///     placed  . . . . . . .  placed        first turn: the middle one of each run of waiting nodes
///        A          x           B          measures with the placed one nearest to it (A),
///     placed  . . . x . . .  placed        next turn: the middles of what is left on both sides of it; x
///        A      y       z       B          meets B if it did not belong to A.
///
/// Whoever was placed in one turn is measured with in the next, so that no node has many partners, and there
/// are about
/// log2(longest run) turns and not as many as that run is long.
class NeighbourWalk {
  public:
    explicit NeighbourWalk(std::size_t nodes) : asked_(nodes, Asked::nobody) {}

    /// The next turn: pairs (waiting, placed) of positions in the order, given for each position whether its
    /// node is placed by now. Empty when every waiting node has measured with the placed ones on both sides.
    std::vector<std::pair<int, int>> next(const std::vector<bool>& is_placed);

  private:
    enum class Asked { nobody, before, after, both };

    std::vector<Asked> asked_;  // by position: on which side of it
};

}  // namespace laple
