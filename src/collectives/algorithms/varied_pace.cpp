// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/varied_pace.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace laple {
namespace {

double part_not_empty(std::span<const FarBlock> blocks) {
    const auto not_empty =
        std::count_if(blocks.begin(), blocks.end(), [](const FarBlock& block) { return block.bytes > 0; });
    return static_cast<double>(not_empty) / static_cast<double>(blocks.size());
}

/// What this rank has for a cluster, and gets from there.
struct Exchange {
    double ranks = 0;  // there
    double sent = 0;
    double got = 0;
    double uplink = 0;
    double link = 0;
};
using Exchanges = std::map<int, Exchange>;  // by cluster
Exchanges exchanges(std::span<const FarBlock> blocks) {
    Exchanges all;
    for (const FarBlock& block : blocks) {
        Exchange& with = all[block.cluster];
        const double bytes = block.is_paced ? static_cast<double>(block.bytes) : 0;
        (block.is_sent ? with.sent : with.got) += bytes;
        if (block.is_sent) with.ranks += 1;
        with.uplink = block.uplink;
        with.link = block.link;
    }
    return all;
}

double sum(const Exchanges& all, double Exchange::*what) {
    double sum = 0;
    for (const auto& [cluster, with] : all) sum += with.*what;
    return sum;
}

/// Of the uplink or link that is busy longest with what this rank sends, in seconds.
double time_of_uplinks(const Exchanges& all, double out, double usual_in) {
    double longest = sum(all, &Exchange::sent) * out;
    for (const auto& [cluster, with] : all) {
        const double in = with.uplink > 0 ? with.uplink : usual_in;
        longest = std::max(longest, with.sent * std::max(in, with.link));
    }
    return longest;
}

/// What the links on this rank's way need, in seconds, if near ranks send to each cluster as much as this
/// one, and far ones as much as they send here, or, if that is less, as comes from that cluster; infinite
/// where an uplink is not known.
double time_of_likely_blocks(const Exchanges& all, double near_ranks, double out) {
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    if (!(out > 0)) return kUnknown;
    const double got = sum(all, &Exchange::got);
    const double far_ranks = sum(all, &Exchange::ranks);
    double longest = out * near_ranks * sum(all, &Exchange::sent);
    for (const auto& [cluster, with] : all) {
        if (with.sent <= 0) continue;
        if (!(with.uplink > 0)) return kUnknown;
        const double by_near = near_ranks * with.sent;
        const double by_far = std::min(with.ranks * (got - with.got), (far_ranks - with.ranks) * with.got);
        longest = std::max({longest, with.uplink * (by_near + by_far), with.link * by_near});
    }
    return longest;
}

}  // namespace

Pace varied_pace(const Pace& usual, std::span<const FarBlock> blocks, int near_ranks, double uplink) {
    const Exchanges all = exchanges(blocks);
    const double sent = sum(all, &Exchange::sent);
    if (usual.seconds_per_byte <= 0 || sent <= 0) return usual;
    const double ranks = near_ranks;
    const double others = (ranks - 1) * sum(all, &Exchange::got);
    const double usual_time = sent * usual.seconds_per_byte;
    const double of_all = std::min(std::min(1.0, (sent + others) / (ranks * sent)) * part_not_empty(blocks),
                                   time_of_likely_blocks(all, ranks, uplink) / usual_time);
    const double shared = usual.seconds_per_byte / ranks;
    const double of_uplinks = time_of_uplinks(all, uplink > 0 ? uplink : shared, shared) / usual_time;
    return usual.scaled(std::max(of_all, std::min(1.0, of_uplinks)));
}

Pace varied_pace_of_root(const Pace& usual, std::span<const FarBlock> blocks, double uplink) {
    const Exchanges all = exchanges(blocks);
    const double sent = sum(all, &Exchange::sent);
    if (usual.seconds_per_byte <= 0 || sent <= 0) return usual;
    const double shared = usual.seconds_per_byte;
    const double of_uplinks = time_of_uplinks(all, uplink > 0 ? uplink : shared, shared) / (sent * shared);
    return usual.scaled(std::min(1.0, of_uplinks));
}

}  // namespace laple
