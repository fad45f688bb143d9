// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "collectives/algorithms/pace.hpp"

namespace laple {

/// A block for a rank of another cluster, or from one.
struct FarBlock {
    Bytes bytes = 0;
    bool is_sent = false;
    bool is_paced = true;  ///< false: it goes together with others, or by streams
    int cluster = 0;       ///< of the other rank
    double uplink = 0;     ///< seconds a byte into that cluster; 0: not known
    double link = 0;       ///< seconds a byte between the two clusters; 0: nothing holds it up
};

/// How fast one of `near_ranks` ranks of a cluster sends blocks whose sizes only their two ends know, in a
/// call without a root. `usual` is the pace where all ranks send as much to all, `uplink` what the cluster's
/// takes for a byte that leaves; 0: not known.
///
/// Who sends more than others, or to a few only, may go faster, but no faster than the uplinks on the way:
/// its own takes all of its blocks, that of another cluster what is for ranks there. Where they are not
/// known, it is as if this rank were one of those of its cluster that share them. What others send is not
/// known; but what they send to this rank tells how much it is likely to be in all, and with how many ranks
/// it has to do, how many others do. The busiest uplink, which the usual pace is that of, may be elsewhere:
/// where those on the way are known, this rank goes as fast as they allow if near ranks send as much to each
/// cluster as it does, and far ones as much as they send here, or as comes from that cluster.
///
///     all send as much to all              a byte takes its usual time
///     all of 4 near ranks send one block   a quarter of it, where no uplink is known
Pace varied_pace(const Pace& usual, std::span<const FarBlock> blocks, int near_ranks, double uplink);

/// The same for a root that sends all blocks, and so knows their sizes.
Pace varied_pace_of_root(const Pace& usual, std::span<const FarBlock> blocks, double uplink);

}  // namespace laple
