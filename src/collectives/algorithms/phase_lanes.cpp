// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/phase_lanes.hpp"

#include <algorithm>
#include <utility>

#include "collectives/collective/collective.hpp"

namespace laple {
namespace {

/// Where the planner knows no NICs: 10 ms of 100 Mbit/s, 0.1 ms of 10 Gbit/s.
constexpr Bytes kUsualLocalWindow = 128 * 1024;

}  // namespace

void PhaseLanes::add(TreeSteps steps, std::unique_ptr<LeaderSteps> leader) {
    lanes_.push_back({std::move(steps), std::move(leader)});
}

void PhaseLanes::write(int lanes, std::uint32_t turn) {
    if (lanes_.empty()) return;
    const std::vector<Bytes>& local = part_.windows.local;
    const auto cluster = static_cast<std::size_t>(part_.machine.cluster_of_rank(part_.rank));
    const std::uint32_t local_window =
        segments_ahead(local.empty() ? kUsualLocalWindow : local[cluster], lanes);
    const std::uint32_t count = segments_.count();
    const std::uint32_t least = is_rooted() ? 1 : std::min(2 * turn, count);
    const std::uint32_t global_window =
        part_.windows.global == 0 ? count : std::max(segments_ahead(part_.windows.global, lanes), least);
    for (std::uint32_t i = 0; i < count + global_window; ++i) {
        if (i >= global_window) spread(i - global_window);
        if (i < count) contribute(i, local_window);
    }
}

bool PhaseLanes::is_rooted() const {
    return row_of(part_.request.collective).is_rooted;
}

/// As many segments as hold so many bytes, but so many that all leaders of a cluster have had their turns.
std::uint32_t PhaseLanes::segments_ahead(Bytes bytes, int lanes) const {
    const Bytes of_bytes = bytes / std::max<Bytes>(segments_.segment_bytes(), 1);
    const std::size_t members = part_.machine.ranks_in(part_.machine.cluster_of_rank(part_.rank)).size();
    const Bytes of_turns = std::min(static_cast<Bytes>(lanes), Bytes{members});
    return static_cast<std::uint32_t>(std::clamp<Bytes>(std::max(of_bytes, of_turns), 1, segments_.count()));
}

void PhaseLanes::contribute(std::uint32_t number, std::uint32_t local_window) {
    Lane& lane = lane_of(number);
    builder_.hold_sends(number >= local_window ? contributions_[number - local_window] : -1, result_);
    const std::int64_t before = builder_.last_receive_in_cluster();
    const Region result = region_in(kResult, segments_.at(number));
    const Region value = lane.steps.reduce(region_in(own_, segments_.at(number)), result.place());
    const std::int64_t after = builder_.last_receive_in_cluster();
    const std::int64_t earlier = contributions_.empty() ? -1 : contributions_.back();
    contributions_.push_back(after != before ? after : earlier);
    if (lane.leader) lane.leader->combine(number, value, result);
}

/// Results are not held.
void PhaseLanes::spread(std::uint32_t number) {
    Lane& lane = lane_of(number);
    const Region result = region_in(kResult, segments_.at(number));
    builder_.hold_sends(-1, -1);
    if (lane.leader) lane.leader->deliver(number, result);
    // A reduction's results are its root's. What an owner has summed up and sent there is its own result.
    if (!is_rooted()) lane.steps.broadcast(result);
    const std::int64_t writer = builder_.writer_of(result.place());
    if (writer >= 0) result_ = writer;
}

}  // namespace laple
