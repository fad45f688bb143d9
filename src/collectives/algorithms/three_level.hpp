// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "collectives/algorithms/phase.hpp"
#include "collectives/cost/near_groups.hpp"

namespace laple {

/// As a direct exchange, but between groups of close clusters (near_groups.hpp), which combine first: the
/// hosts of a cluster at its sub-leader, the sub-leaders of a group at its leader; the leaders exchange. The
/// far way is gone once, and carries one copy to each group, not to each cluster.
///
///     three-level/flat@8Kx8
///
/// Sub-leaders take turns from lane to lane, and so do leaders: if the lanes are a multiple of the hosts of a
/// group and of each of its clusters, every host of a cluster is sub-leader in as many of them.
///
///     lane 0        0 ──┬─ 4        {0 1 2 3} {4 5 6 7}        lane 5      5 ──┬─ 1
///                 1 2 3 │ └ 5 6 7                                        4 6 7 │ └ 0 2 3
///
/// (MPICH-G2's levels, with one exchange at the outermost one)
class ThreeLevel final : public PhaseAlgorithm {
  public:
    /// `groups` empty: the outermost ones of the machine.
    ThreeLevel(PhaseParameters parameters, ClusterGroups groups)
        : PhaseAlgorithm(std::move(parameters)), groups_(std::move(groups)) {}

    std::string details() const override;
    std::string in_words() const override {
        return "near clusters combine first, leaders of their groups exchange, all spread the result";
    }
    bool can_do(const Request& request, const Machine& machine) const override;
    std::optional<Candidate> price(Pricing& pricing) const override;

  protected:
    std::string_view keyword() const override { return "three-level"; }
    std::unique_ptr<PhaseLayout> layout(const Machine& machine) const override;
    std::unique_ptr<LeaderSteps> leader_steps(LeaderPlace place, ReceiveSlots& slots,
                                              ScheduleBuilder& builder) const override;

  private:
    ClusterGroups groups_;
};

// What the registry has of this family.

AlgorithmPtr parse_three_level(const AlgorithmName& name, Collective collective);

/// In as many lanes as give all hosts of a cluster equal parts; not where that would take too many.
void propose_three_level(Pricing& pricing, std::vector<Candidate>& found);

}  // namespace laple
