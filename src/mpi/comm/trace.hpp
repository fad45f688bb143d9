// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>

#include "base/units.hpp"
#include "mpi/comm/traced_call.hpp"
#include "mpi/probe/clock.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

class StreamRoutes;

/// The timeline of a job (LAPLE_TRACE): of every plan the calls number 1, 2, 4, 8 ... are traced on all
/// ranks, as long as there is room. Ranks keep what they see; at the end it is gathered, put on one clock,
/// and written by rank 0 for ui.perfetto.dev. Thread safe.
class Trace {
  public:
    /// For the file of this name. MPI must be initialised.
    explicit Trace(std::string file);
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// True the first time only.
    bool may_begin() { return !has_begun_.exchange(true); }
    /// To be called once, for a communicator with the ranks of MPI_COMM_WORLD in their order, all of which
    /// trace. `machine`: these ranks. Collective: compares clocks.
    void begin(MPI_Comm comm, const Machine& machine);
    /// Keeps a call that is over, its steps where there is room for them.
    void add(TracedCall call);
    /// Writes the file on rank 0, and says where that fails. Collective over all ranks where begin() was
    /// called.
    void write(const std::string& versions);

  private:
    std::vector<TracedCall> calls_in_common_time() const;
    std::vector<std::vector<std::uint8_t>> gather(const std::vector<std::uint8_t>& mine) const;

    const std::string file_;
    std::atomic<bool> has_begun_{false};
    mutable std::mutex mutex_;
    MPI_Comm comm_ = MPI_COMM_NULL;  // of all ranks, once it is made
    std::optional<Clock> clock_;
    Machine machine_ = Machine(Topology::flat(0));
    // Rank 0's clock - this one's, and when it was read: at the beginning, and at the end.
    Seconds offset_before_{0}, offset_after_{0};
    Seconds compared_before_{0}, compared_after_{0};
    std::vector<TracedCall> calls_;
    std::size_t room_;          // for so many steps more
    std::size_t left_out_ = 0;  // calls whose steps had no room
};

/// Which calls of one communicator are traced.
class CommTrace {
  public:
    /// `in_world`: the rank in MPI_COMM_WORLD of each of its ranks; `is_like_world`: they are those of
    /// MPI_COMM_WORLD in their order. The trace must outlive this. Collective.
    CommTrace(Trace& trace, MPI_Comm comm, std::vector<Rank> in_world, bool is_like_world);

    /// Whether the next call of this kind is traced: the first, second, fourth, eighth ... Sizes up to the
    /// same power of two are one kind. To be asked on all ranks alike, with values that are equal on them.
    bool wants(std::string_view function, Bytes bytes, const std::string& algorithm);
    /// For each blocking call that LaPle does, traced or not.
    std::uint64_t next_number() { return ++numbers_; }
    /// A call that was wanted, and is over: its peers are ranks of this communicator.
    void add(TracedCall call, const StepTimes* times, const StreamRoutes* routes);

    /// Trace::begin(), where it is for this communicator to do. Collective.
    void begin(MPI_Comm comm, const Machine& machine) {
        if (begins_) trace_.begin(comm, machine);
    }

  private:
    Trace& trace_;
    std::vector<Rank> in_world_;
    std::uint64_t identity_ = 0;
    bool begins_ = false;
    std::uint64_t numbers_ = 0;
    struct Kind {
        std::string function;
        Bytes bytes = 0;
        std::string algorithm;
        auto operator<=>(const Kind&) const = default;
    };
    std::map<Kind, std::uint64_t> calls_;                        // so many so far
    std::map<Kind, std::uint64_t>::value_type* last_ = nullptr;  // of them, that was made last
};

}  // namespace laple::mpi
