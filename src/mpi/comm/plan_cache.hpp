// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include "collectives/cost/machine_costs.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/rules.hpp"
#include "collectives/schedule/step_graph.hpp"
#include "mpi/comm/own_comms.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

class Process;

/// A plan that is ready to run; without a schedule MPI's own call is the plan.
struct PreparedPlan {
    std::string algorithm;
    std::unique_ptr<PreparedSchedule> schedule;
    Seconds watched_prediction{0};  ///< where SlownessWatch looks at it; else 0
    bool is_native() const { return schedule == nullptr; }
};

/// The plans of one communicator, each made when it is first needed. To be asked on all ranks alike: then
/// they are equal on all of them.
class PlanCache {
  public:
    /// For `rank` of `machine`, whose clusters have these costs (none, where they are not known), and by
    /// these rules (LAPLE_ALGORITHM of all ranks). The references must outlive this.
    PlanCache(Process& process, const Machine& machine, MachineCosts costs, const std::string& rules,
              OwnComms& comms, int rank);

    /// The plan for `request`; nullptr where it is still to be made. Good until the next make_and_keep().
    const PreparedPlan* find(const Request& request);
    const PreparedPlan& make_and_keep(const Request& request);
    PreparedPlan make(const Request& request);

    /// Plans by other rules from now on; "default": by those of the constructor. Where something is wrong
    /// with them: false, and nothing is changed; the first time of a process, it is said what.
    bool set_rules(const std::string& rules);

  private:
    struct RequestHash {
        std::size_t operator()(const Request& request) const;
    };

    Plan choose(const Request& request);
    PreparedPlan prepare(Plan& plan);
    void forget_plans();

    Process& process_;
    const Machine& machine_;
    MachineCosts costs_;
    std::string agreed_rules_;
    Rules rules_;
    OwnComms& comms_;
    int rank_;
    using Plans = std::unordered_map<Request, PreparedPlan, RequestHash>;
    Plans plans_;
    Plans::value_type* last_ = nullptr;  ///< of plans_, that was found last: loops repeat one call
    std::unordered_map<Request, Plan, RequestHash> choices_;  // by size class; without rules only
    std::size_t cached_steps_ = 0;
};

}  // namespace laple::mpi
