// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "collectives/drift/drift_watch.hpp"
#include "collectives/drift/rate_limits.hpp"
#include "collectives/planner/plan.hpp"
#include "topology/machine.hpp"

namespace laple {

/// What a network was measured to be, and what calls have shown of its links since. A value of which all
/// ranks hold the same, for they learn the same.
///
///     measured ──► plans ──► calls ──► spans of links (DriftWatch) ──► explain() ──► limits ──► other plans
class LinksNow {
  public:
    /// The references must outlive this.
    LinksNow(const Machine& machine, const MachineCosts& measured)
        : machine_(machine), measured_(measured), limits_(measured.count()), refuted_(limits_) {}

    bool are_as_measured() const { return limits_.are_none(); }
    const MachineCosts& costs() const { return are_as_measured() ? measured_ : limited_; }
    const RateLimits& limits() const { return limits_; }

    /// Of calls by `plan`, which was made for these costs().
    DriftWatch::Expected expected_spans(const Plan& plan) const;
    /// From what was found of calls by `plan`, whose spans were `usual` before. True when links have changed:
    /// then plans must be made anew.
    bool learn(const Plan& plan, const DriftWatch::Finding& finding, const std::vector<double>& usual);

  private:
    void set(const RateLimits& limits);

    const Machine& machine_;
    const MachineCosts& measured_;
    RateLimits limits_;
    RateLimits refuted_;
    MachineCosts limited_;                   // measured, with these limits
    std::vector<double> seen_by_predicted_;  // spans, when they last changed; empty: they never have
    int recoveries_ = 0;
};

/// For plans of links that have changed: `former`, by which calls went before, stays where it is not
/// predicted to be clearly slower than another one. Its connections are warm, and predictions are not exact.
void put_former_first(Plan former, std::vector<Plan>& plans);

/// For plans of links that have become slower: they must show when these recover. Calls at a pace never go
/// faster than that, and MPI's own calls show nothing: it is not worth it where another plan is hardly
/// slower.
void make_watchable(std::vector<Plan>& plans);

/// For people.
std::string describe(const RateLimits& limits);

}  // namespace laple
