// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "base/units.hpp"
#include "collectives/collective/collective.hpp"

namespace laple::mpi {

/// What this process called: function × size class × algorithm × calls × time. Thread safe.
class Report {
  public:
    /// `function` is MPI's name, without "MPI_", and has to outlive the report. `time`: 0 where it is not
    /// known.
    void add(Collective collective, std::string_view function, Bytes bytes, const std::string& algorithm,
             Seconds time);

    /// A table for people, as this rank saw it; "" when nothing was called.
    std::string table() const;

  private:
    struct Line {
        std::uint64_t calls = 0;
        Seconds total{0};
        Seconds longest{0};
    };
    /// Sizes are told apart by the power of two at or above them; the class is that power, 0 for 0 bytes.
    static Bytes class_of(Bytes bytes);

    mutable std::mutex mutex_;
    std::map<std::tuple<Collective, std::string_view, Bytes, std::string>, Line> lines_;
};

/// What this process has compared so far with MPI's own results (LAPLE_VERIFY), and how often they were not
/// the same.
struct VerificationCount {
    std::atomic<int> compared{0};
    std::atomic<int> different{0};
};
inline VerificationCount verification_count;

}  // namespace laple::mpi
