// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.hpp"
#include "collectives/collective/collective.hpp"
#include "mpi/comm/comm_state.hpp"
#include "mpi/comm/plan_cache.hpp"
#include "mpi/comm/report.hpp"
#include "mpi/exec/step_times.hpp"

namespace laple::mpi {

/// What becomes known of one call, for the report and for the timeline. Looks at the clock only where
/// somebody wants to know.
class CallRecord {
  public:
    struct Subject {
        Collective collective;
        std::string_view function;  ///< MPI's name, without "MPI_"
        Bytes bytes = 0;
        bool is_blocking = false;  ///< CommState::next() has just given its plan
    };

    /// The call begins now, by this `algorithm` (kNativeCall: by MPI), or by this plan.
    CallRecord(CommState& state, const Subject& subject, const std::string& algorithm);
    CallRecord(CommState& state, const Subject& subject, const PreparedPlan& plan);

    /// Where the times of its steps are to be noted; nullptr: nowhere.
    StepTimes* times() { return is_traced_ ? &times_ : nullptr; }

    /// MPI's own call is over. The state may be gone: a user's error handler may free the communicator.
    /// `algorithm`: for the report, as if LaPle had done it (LAPLE_PROFILE).
    void done(const std::string& algorithm, const Expectation& expected);
    /// A run of `plan`, as it was constructed for, is over. For all threads. `number`: equal on all ranks,
    /// and different for all calls that are traced there; 0: its messages are not drawn.
    void done(CommState& state, const PreparedPlan& plan, std::uint64_t number);
    /// The number of a blocking call, and of one that is started (CommState::start_call()).
    static std::uint64_t number_of_blocking(CommState& state);
    static std::uint64_t number_of_started(std::uint64_t number) { return number | std::uint64_t{1} << 63U; }

  private:
    CallRecord(CommState& state, const Subject& subject, Bytes common_bytes, const std::string& algorithm);
    TracedCall traced_call(const std::string& algorithm, const Expectation& expected, Seconds end) const;

    Report* report_;
    Trace* trace_ = nullptr;
    Subject subject_;
    bool is_traced_ = false;
    bool is_of_all_ranks_;
    Expectation expected_;  // of a plan
    Seconds start_{0};
    StepTimes times_;
};

}  // namespace laple::mpi
