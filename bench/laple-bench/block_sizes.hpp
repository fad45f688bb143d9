// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/units.hpp"

namespace laple::bench {

/// How the sizes of blocks differ where each rank has a count of its own.
enum class Spread {
    equal,       ///< not at all
    half,        ///< the last rank has half of all bytes
    empty_rows,  ///< every second rank has nothing
    log_normal,  ///< at random: the logarithm is normal, with a standard deviation of 1
};

/// The bytes of the block from one rank to another, of `ranks`; about `mean` on average, and the same for who
/// sends it as for who gets it. Of blocks that go to all ranks, or between each rank and a root, `to` is 0.
Bytes block_bytes(Spread spread, Rank from, Rank to, Bytes mean, int ranks);

}  // namespace laple::bench
