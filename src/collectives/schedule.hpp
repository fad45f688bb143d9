// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"
#include "collectives/blocks.hpp"
#include "collectives/collective.hpp"

namespace laple {

/// The buffers that a rank's steps name. Temporary buffers follow, numbered from kFirstTemporary.
///
///     kInput    the rank's own contribution; read only; may be the same memory as kResult (MPI_IN_PLACE)
///     kResult   the message (bcast) or the result (reductions); scratch on ranks that get no result
inline constexpr std::uint32_t kInput = 0;
inline constexpr std::uint32_t kResult = 1;
inline constexpr std::uint32_t kFirstTemporary = 2;

/// One block's worth of memory. Slots that follow each other do so in memory too. In kInput and kResult the
/// slot is the block's index in the message; a temporary buffer has a few slots, used in turn.
struct Place {
    std::uint32_t buffer = kResult;
    std::uint32_t slot = 0;
    bool operator==(const Place&) const = default;
};

enum class StepKind : std::uint8_t {
    send,           ///< `from` to `peer`
    recv,           ///< `to` from `peer`
    copy,           ///< to = from
    reduce,         ///< to = from ∘ to: `from` is the left operand, as in MPI_Reduce_local
    native_bcast,   ///< MPI's own broadcast of the whole message inside the innermost group; `peer` is the
                    ///< root
    native_reduce,  ///< MPI's own reduction `from` → `to` (at `peer`) of the whole message in the innermost
                    ///< group
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

/// One thing that one rank does with one block, or with a run of blocks that follow each other, which then
/// lie in slots that follow each other: one message instead of several. A step may start when the steps it
/// depends on are complete and, for sends and receives, when the previous send to (receive from) the same
/// peer in the same channel has been started.
struct Step {
    StepKind kind = StepKind::copy;
    Channel channel = 0;  ///< of messages
    Rank peer = -1;
    std::uint32_t block = 0;
    std::uint32_t run = 1;  ///< so many blocks, from `block` on
    Place from;             ///< of the first block
    Place to;
    std::uint32_t first_dependency = 0;  ///< into Schedule::dependencies
    std::uint32_t dependency_count = 0;
    std::int64_t next_in_channel = -1;  ///< the next send to, or receive from, the same peer there
    bool is_first_in_channel = true;
};

/// What one rank does in one collective: steps in a legal order (each depends on earlier ones only),
/// immutable once built. Holds no address and no MPI object, so the same schedule runs in the executor,
/// in the simulator and in the verifier.
struct Schedule {
    Blocks blocks;
    std::vector<Step> steps;
    std::vector<std::uint32_t> dependencies;
    std::vector<std::uint32_t> temporary_slots;  ///< slots of each temporary buffer

    std::span<const std::uint32_t> dependencies_of(const Step& step) const {
        return {dependencies.data() + step.first_dependency, step.dependency_count};
    }
};

/// "3: recv 5 -> result[2] after 1 2", one line a step, for people and golden tests.
std::string describe(const Schedule& schedule);

/// Builds a schedule in program order and finds the dependencies itself.
///
/// The caller writes a straight program for one rank; two steps depend on each other when they touch the same
/// place and one of them writes it (read after write, write after read, write after write). kInput and
/// kResult count as one memory, because MPI_IN_PLACE makes them so. In addition at most `window` sends to,
/// and receives from, one peer in one channel are under way at a time: requests to poll and memory stay
/// bounded. Sends to near ranks have a smaller window: their links have little in flight, and where messages
/// share a link instead of queueing (MPI over several connections, SimGrid) the first of many segments would
/// arrive with the last.
class ScheduleBuilder {
  public:
    /// `window` ≥ 1, in blocks.
    ScheduleBuilder(const Blocks& blocks, std::uint32_t window);

    /// Ranks to which at most `window` ≥ 1 sends are under way at a time. To be called first.
    void set_near(std::vector<Rank> ranks, std::uint32_t window);

    /// From now on sends to near ranks wait for the earlier step `near` too, and all sends for `all`; -1: for
    /// none. A send is complete long before its message has left, so no window limits what is in a NIC's
    /// queue.
    void hold_sends(std::int64_t near, std::int64_t all);
    /// The last receive from a near rank so far in program order; -1: none.
    std::int64_t last_near_receive() const { return last_near_receive_; }
    /// The last step that writes there so far in program order; -1: none.
    std::int64_t writer_of(Place place) { return access(place).writer; }

    /// A temporary buffer of `slots` blocks, at most one for each block of the message; returns its number.
    std::uint32_t add_temporary(std::uint32_t slots);
    std::uint32_t window() const { return window_; }
    /// The place of `block` in a buffer: temporaries reuse their slots in turn.
    Place at(std::uint32_t buffer, std::uint32_t block) const;

    /// Of `run` ≥ 1 blocks from `block` on, at `from` or `to` and in the slots after it.
    void send(Rank peer, std::uint32_t block, Place from, std::uint32_t run = 1, Channel channel = 0);
    void recv(Rank peer, std::uint32_t block, Place to, std::uint32_t run = 1, Channel channel = 0);
    void copy(std::uint32_t block, Place from, Place to, std::uint32_t run = 1);
    void reduce(std::uint32_t block, Place from, Place to, std::uint32_t run = 1);
    /// Native calls block inside MPI: they wait for all steps before them and hold back all after them.
    void native(StepKind kind, Rank root, Place from, Place to);

    Schedule finish() &&;

  private:
    /// What has been done with a place.
    struct Access {
        std::int64_t writer = -1;
        std::int64_t first_reader = -1;     // since that write; most places have one
        std::vector<std::uint32_t> others;  // that read it then
    };
    struct Traffic {
        std::vector<std::uint32_t> under_way;  // ring of the last steps, as many as its window
        std::uint64_t count = 0;
    };

    std::uint32_t begin(StepKind kind, Rank peer, std::uint32_t block, std::uint32_t run);
    void local(StepKind kind, std::uint32_t block, Place from, Place to, std::uint32_t run);
    /// As many slots as the step has blocks.
    void reads(std::uint32_t step, Place place);
    void writes(std::uint32_t step, Place place);
    void depends_on(std::uint32_t step, std::int64_t earlier);
    void enter_channel(std::uint32_t step, Traffic& traffic, std::uint32_t window);
    bool is_near(Rank peer) const;
    static std::uint64_t key(Rank peer, Channel channel) {
        return (static_cast<std::uint64_t>(channel) << 32) | static_cast<std::uint32_t>(peer);
    }
    void end(std::uint32_t step);
    Access& access(Place place);

    Schedule schedule_;
    std::uint32_t window_;
    std::vector<Rank> near_;
    std::uint32_t near_window_ = 1;
    std::vector<std::vector<Access>> accesses_;         // by memory, by slot
    std::unordered_map<std::uint64_t, Traffic> sends_;  // by peer and channel
    std::unordered_map<std::uint64_t, Traffic> recvs_;
    std::int64_t hold_near_ = -1;
    std::int64_t hold_all_ = -1;
    std::int64_t last_near_receive_ = -1;
    std::int64_t fence_ = -1;
};

}  // namespace laple
