// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/algorithms/phase.hpp"

namespace laple {

/// Segment by segment, each in its lane. A rank's contributions are available from the start. Sent all at
/// once they would fill the NIC's queue, so that partial results, and then results, would wait behind all of
/// them; and a slow rank, which receives no faster than its own rate, would get next to no results in the
/// first half of the time. So two send windows hold a rank back. It contributes to
///
///     segment i    inside its group, when contributions to segment i - L have come from there    L: local
///                  at all, when it has its result of segment i - G                               G: global
///
/// In a reduction only the root has all results. An owner (rsag.hpp) then waits for those that it has summed
/// up itself: their way to the root is behind its contributions in the NIC's queue.
class PhaseLanes {
  public:
    /// `own`: the buffer of what the rank contributes.
    PhaseLanes(const Part& part, const Segments& segments, Buffer own, ScheduleBuilder& builder)
        : part_(part), segments_(segments), own_(own), builder_(builder) {}

    /// The next lane; `leader` on its leaders, and on the root of a reduction.
    void add(TreeSteps steps, std::unique_ptr<LeaderSteps> leader);
    /// All steps; none where there is no lane. `lanes`: of the algorithm. `turn`: so many segments that
    /// follow each other are summed up by different leaders, one each. Where all ranks want results, G is two
    /// turns at least: in the first one no leader has a result.
    void write(int lanes, std::uint32_t turn);

  private:
    /// Every so many segments have the same leaders.
    struct Lane {
        TreeSteps steps;
        std::unique_ptr<LeaderSteps> leader;
    };

    Lane& lane_of(std::uint32_t segment) { return lanes_[segment % lanes_.size()]; }
    bool is_rooted() const;
    std::uint32_t segments_ahead(Bytes bytes, int lanes) const;
    void contribute(std::uint32_t number, std::uint32_t local_window);
    void spread(std::uint32_t number);

    const Part& part_;
    Segments segments_;
    Buffer own_;
    ScheduleBuilder& builder_;
    std::vector<Lane> lanes_;
    std::vector<std::int64_t>
        contributions_;         // by segment: the last receive from the own cluster, of it or before
    std::int64_t result_ = -1;  // completes the last segment that has a result here
};

}  // namespace laple
