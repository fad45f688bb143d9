// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/varied_pace.hpp"

#include <algorithm>
#include <map>

namespace laple {
namespace {

double paced_bytes(std::span<const FarBlock> blocks, bool is_sent) {
    double bytes = 0;
    for (const FarBlock& block : blocks) {
        if (block.is_paced && block.is_sent == is_sent) bytes += static_cast<double>(block.bytes);
    }
    return bytes;
}

double part_not_empty(std::span<const FarBlock> blocks) {
    const auto not_empty =
        std::count_if(blocks.begin(), blocks.end(), [](const FarBlock& block) { return block.bytes > 0; });
    return static_cast<double>(not_empty) / static_cast<double>(blocks.size());
}

/// Of the uplink that is busy longest, in seconds.
double time_of_uplinks(std::span<const FarBlock> blocks, double out, double usual_in) {
    double longest = paced_bytes(blocks, true) * out;
    std::map<int, double> time_in;  // by cluster
    for (const FarBlock& block : blocks) {
        if (!block.is_paced || !block.is_sent) continue;
        double& time = time_in[block.cluster];
        time += static_cast<double>(block.bytes) * (block.uplink > 0 ? block.uplink : usual_in);
        longest = std::max(longest, time);
    }
    return longest;
}

}  // namespace

Pace varied_pace(const Pace& usual, std::span<const FarBlock> blocks, int near_ranks, double uplink) {
    const double sent = paced_bytes(blocks, true);
    if (usual.seconds_per_byte <= 0 || sent <= 0) return usual;
    const double ranks = near_ranks;
    const double others = (ranks - 1) * paced_bytes(blocks, false);
    const double of_all = std::min(1.0, (sent + others) / (ranks * sent)) * part_not_empty(blocks);
    const double shared = usual.seconds_per_byte / ranks;
    const double of_uplinks =
        time_of_uplinks(blocks, uplink > 0 ? uplink : shared, shared) / (sent * usual.seconds_per_byte);
    return usual.scaled(std::max(of_all, std::min(1.0, of_uplinks)));
}

}  // namespace laple
