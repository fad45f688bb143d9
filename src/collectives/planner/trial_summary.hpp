// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/collective/collective.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/trials.hpp"

namespace laple {

/// What the trials of one job have cost, and which plans they have changed: for people, at the end of the
/// job.
class TrialSummary {
  public:
    /// `trials` of `plans`, all for one kind of calls. Of the same kind on several communicators, what is
    /// shown is that of the calls that took longer.
    void add(const std::vector<Plan>& plans, const Trials& trials);
    void add(const TrialSummary& other);
    /// Plans were made anew so often, for links had changed their rates; looking at links took `cost`.
    void add_changes_of_links(int changes, Seconds cost);

    /// Lines of text; "" where nothing was tried.
    std::string text() const;

  private:
    struct PlanTimes {
        std::string algorithm;
        Seconds predicted{0};
        Seconds measured{0};  // 0: not tried often enough
    };
    struct Finding {
        PlanTimes planned;  // by predictions, or by what earlier jobs have found
        PlanTimes best;
        bool is_for_later = false;
        Seconds calls{0};
    };
    using Kind = std::tuple<Collective, Bytes, Rank>;  // the size class; the root, 0 where there is none

    void add(const Kind& kind, const Finding& finding);
    std::string line(const Kind& kind, const Finding& finding) const;

    std::map<Kind, Finding> findings_;
    Seconds cost_{0};
    Seconds calls_{0};
    int changes_of_links_ = 0;
    Seconds watching_{0};
};

}  // namespace laple
