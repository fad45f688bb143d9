// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/algorithm.hpp"

#include <algorithm>
#include <utility>

#include "collectives/collective/collective.hpp"

namespace laple {
namespace {

/// Bytes that may be under way to one peer in one channel. More than the bandwidth-delay product of the links
/// LaPle is made for (1 Gbit/s × 20 ms = 2.5 MB would be the extreme; 100 Mbit/s × 40 ms = 0.5 MB the usual),
/// so that a pipeline never waits for an acknowledgement, and a bound on requests and on temporary memory.
constexpr Bytes kWindowBytes = 512 * 1024;
/// Inside a cluster, 1 Gbit/s × 100 us: what is sent into a full pipe delays what is there already, on its
/// way through every host of the cluster.
constexpr Bytes kWindowBytesInCluster = 16 * 1024;
constexpr std::uint64_t kMinWindow = 4;
constexpr std::uint64_t kMinWindowInCluster = 2;
constexpr std::uint64_t kMaxWindow = 256;

std::uint32_t window_of(const Segments& segments, Bytes window_bytes, std::uint64_t least) {
    const Bytes segment = std::max<Bytes>(segments.segment_bytes(), 1);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(window_bytes / segment, least, kMaxWindow));
}

}  // namespace

std::string Algorithm::kind() const {
    const std::string name = this->name();
    const auto segment = name.find('@');
    if (segment == std::string::npos) return name;
    const auto lanes = name.find('x', segment);
    return name.substr(0, segment + 1) + (lanes == std::string::npos ? "" : name.substr(lanes));
}

const SendOrder& Algorithm::order() const {
    static const SendOrder kAny;
    return kAny;
}

Schedule expand(const Algorithm& algorithm, const Part& part) {
    const Segments segments = algorithm.segments(part.request);
    Windows windows;
    windows.between_clusters = part.windows.channel > 0
                                   ? window_of(segments, part.windows.channel, kMinWindowInCluster)
                                   : window_of(segments, kWindowBytes, kMinWindow);
    windows.in_cluster = window_of(segments, kWindowBytesInCluster, kMinWindowInCluster);
    windows.cluster_ranks = part.machine.ranks_in(part.machine.cluster_of_rank(part.rank));
    const CollectiveRow& row = row_of(part.request.collective);
    ScheduleBuilder builder(row.buffers(part.request, part.machine.rank_count(), part.rank),
                            std::move(windows));
    algorithm.write_steps(part, builder);
    return std::move(builder).finish();
}

}  // namespace laple
