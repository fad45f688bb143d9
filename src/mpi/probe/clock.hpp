// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/probe/clock_choice.hpp"

namespace laple::mpi {

/// Rank 0's CLOCK_MONOTONIC, read on every rank. Ranks on one machine read the same clock; that
/// of each other machine is compared by ping-pongs between rank 0 and the machine's first rank, right to half
/// of their shortest round trip.
class Clock {
  public:
    /// What comparing the clocks of so many machines takes, whose messages take `latency`.
    static Seconds time_to_compare(std::size_t machines, Seconds latency);

    /// Collective over `control`, which must outlive the clock.
    Clock(MPI_Comm control, ClockChoice choice);

    /// Collective: measures the offsets again, because clocks drift. Does nothing for a shared clock.
    void synchronize();

    /// Nanoseconds in rank 0's time.
    std::int64_t now_ns() const;

    /// Returns at `time_ns` of rank 0's time, at once when that is past. Sleeps, then yields: ranks that
    /// share a core all get their turn.
    void wait_until(std::int64_t time_ns) const;

    /// The largest error that the offsets can have; 0 for a shared clock. The same on all ranks.
    std::int64_t error_ns() const { return error_ns_; }

    /// How the ranks' clocks were made one, for people.
    std::string description() const;

  private:
    bool is_shared() const;
    void answer_pings() const;
    /// In nanoseconds: rank 0's time - theirs, and the largest error of it.
    struct Offset {
        std::int64_t value = 0;
        std::int64_t error = 0;
    };
    std::vector<Offset> measure_offsets() const;
    std::vector<Offset> ping(std::span<const int> ranks) const;

    MPI_Comm control_;
    std::vector<int> first_;      ///< of each rank, the first one that reads the same clock
    std::int64_t offset_ns_ = 0;  ///< rank 0's time - local time
    std::int64_t error_ns_ = 0;
};

}  // namespace laple::mpi
