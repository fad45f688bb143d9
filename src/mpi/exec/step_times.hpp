// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "collectives/schedule/schedule.hpp"
#include "mpi/exec/transport.hpp"

namespace laple::mpi {

/// When one step of a call was under way on this rank, by clock_time(): a message from when it was started or
/// its memory was offered until it was complete.
struct StepTime {
    StepKind kind = StepKind::copy;
    std::uint16_t channel = 0;
    Rank peer = -1;  ///< of messages
    Bytes bytes = 0;
    std::uint64_t offset = 0;  ///< in bytes, in the message of the call where its memory is that
    Seconds start{0};
    Seconds end{0};  ///< 0: it has not ended
};

/// Of the calls that are traced (LAPLE_TRACE). Steps have numbers that their runner chooses.
class StepTimes {
  public:
    void begin(std::size_t step, StepTime time) {
        if (step >= steps_.size()) steps_.resize(step + 1);
        time.start = clock_time();
        steps_[step] = time;
    }
    void end(std::size_t step) { steps_[step].end = clock_time(); }
    const std::vector<StepTime>& steps() const { return steps_; }

  private:
    std::vector<StepTime> steps_;
};

}  // namespace laple::mpi
