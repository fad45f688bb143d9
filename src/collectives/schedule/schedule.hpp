// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "collectives/schedule/region.hpp"

namespace laple {

enum class StepKind : std::uint8_t {
    send,           ///< `from` to `peer`
    recv,           ///< `to` from `peer`
    copy,           ///< to = from
    reduce,         ///< to = from ∘ to: `from` is the left operand, as in MPI_Reduce_local
    native_bcast,   ///< MPI's own broadcast inside the innermost group; `peer` is the root
    native_reduce,  ///< MPI's own reduction `from` → `to` (at `peer`) in the innermost group
};

/// Messages of one channel from one rank to another never overtake each other, those of two channels may.
/// What goes up a tree has another channel than what goes down, and each lane has its own: between the same
/// two ranks, some have a longer way behind them than others that are sent later.
using Channel = std::uint16_t;
constexpr Channel contributions(int lane = 0) {
    return static_cast<Channel>(2 * lane);
}
constexpr Channel results(int lane = 0) {
    return static_cast<Channel>(2 * lane + 1);
}

/// One thing that one rank does with units that follow each other. A step may start when the steps it depends
/// on are complete and, for sends and receives, when the previous send to (receive from) the same peer in the
/// same channel has been started.
struct Step {
    StepKind kind = StepKind::copy;
    bool is_first_in_channel = true;
    bool repeats = false;   ///< sends the same data as the step before it, to another rank
    bool is_paced = false;  ///< a send that waits for its turn: Schedule::seconds_per_unit
    Channel channel = 0;    ///< of messages
    Rank peer = -1;
    std::uint64_t units = 0;
    Place from;
    Place to;
    std::uint32_t first_dependency = 0;  ///< into Schedule::dependencies
    std::uint32_t dependency_count = 0;
    std::int64_t next_in_channel = -1;  ///< the next send to, or receive from, the same peer there

    bool is_message() const { return kind == StepKind::send || kind == StepKind::recv; }
    bool is_native() const { return kind == StepKind::native_bcast || kind == StepKind::native_reduce; }
    Region from_region() const { return {from.buffer, from.offset, units}; }
    Region to_region() const { return {to.buffer, to.offset, units}; }
};

/// What one rank does in one collective: steps in a legal order (each depends on earlier ones only),
/// immutable once built. Holds no address and no MPI object, so the same schedule runs in the executor,
/// in the simulator and in the verifier.
struct Schedule {
    Bytes unit_bytes = 1;
    std::uint64_t result_units = 0;  ///< of kResult, so that a rank that gets nothing can have scratch memory
    std::vector<Step> steps;
    std::vector<std::uint32_t> dependencies;
    std::vector<std::uint64_t> temporary_units;  ///< of each temporary buffer
    /// How much later the next paced send may start, for each unit of the one before it. 0: none is paced.
    double seconds_per_unit = 0;
    /// How much earlier than at this pace a send may start: at the beginning, or after a wait, so much goes
    /// at once.
    Seconds ahead{0};

    std::span<const std::uint32_t> dependencies_of(const Step& step) const {
        return {dependencies.data() + step.first_dependency, step.dependency_count};
    }
};

/// "3: recv rank 5 -> result[0-15] after 1 2", one line a step, for people and golden tests.
std::string describe(const Schedule& schedule);

}  // namespace laple
