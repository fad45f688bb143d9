// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

#include "collectives/algorithms/block_routes.hpp"
#include "collectives/algorithms/varied_pace.hpp"
#include "collectives/schedule/step_graph.hpp"
#include "mpi/exec/block_streams.hpp"
#include "mpi/exec/operands.hpp"
#include "mpi/exec/pacer.hpp"
#include "mpi/exec/step_times.hpp"

namespace laple::mpi {

/// What a plan says of blocks of different sizes (Request::is_varied), beside the steps of the short ones.
struct BlockPlan {
    std::uint64_t units = 1;  ///< of a block in those steps
    /// Blocks of up to so many bytes go together; longer ones go straight. 0: all of them.
    Bytes longest_together = 0;
    std::vector<StraightBlock> straight;  ///< all blocks of this rank, if they go straight
    int near_ranks = 1;                   ///< of this rank's cluster
    Pace pace = {};                       ///< of what goes to other clusters, if all ranks send as much
    double uplink = 0;                    ///< seconds a byte out of this rank's cluster; 0: not known
    struct Way {
        int cluster = 0;    ///< of the other end
        double uplink = 0;  ///< FarBlock::uplink
        double link = 0;    ///< FarBlock::link
    };
    std::vector<Way> ways = {};  ///< of each of `straight`; empty without a pace
};

/// The bytes of a block.
struct BlockMemory {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
};

/// What this rank has for others, and gets from them, by the number of the block. What it has for itself is
/// none of it.
struct BlockOperands {
    std::vector<BlockMemory> input;  ///< only read from
    std::vector<BlockMemory> result;
};

/// One run of a personalized collective whose blocks have sizes that only their two ends know.
///
///     short blocks    the steps of a schedule. Its regions are blocks; a message is
///                       length ... length, bytes ... bytes          of all its blocks
///     long blocks     straight to their ranks. Those to and from ranks that are reached by streams as a
///     whole
///                     by these (BlockStreams); of the others a segment of each in turn, what goes to other
///                     clusters at the pace of the plan, and what stays in the cluster between it
///     note            from the root of a gather to those in other clusters that have a long block for it:
///                     how long all blocks are on the average. Who has more than that may go faster
///
/// Both ends of a block know by its length which way it goes, and which ranks are reached by streams was
/// agreed when these were made: they decide alike without a message. Where they do not, since the program
/// gives them different counts, the call may not end, as in MPI.
class BlockExchange {
  public:
    /// The references must outlive this. `routes`: nullptr where the plan has no streams. `times`: where the
    /// times of its messages are noted, those of steps by the numbers of these, those of blocks that go
    /// straight after them; or nullptr.
    BlockExchange(const PreparedSchedule& prepared, const BlockPlan& plan, const BlockOperands& operands,
                  const Ways& ways, const StreamRoutes* routes, StepTimes* times = nullptr);

    /// Does what can be done without waiting.
    void progress();
    /// Does everything, and waits where it must. Returns code().
    int to_end();

    /// Whether it is over, with an error or without.
    bool is_complete() const {
        return has_failed_ || (steps_left_ == 0 && bytes_left_ == 0 && streams_.is_idle());
    }
    /// MPI's error code; MPI_ERR_TRUNCATE where a block is longer than its rank expects, MPI_ERR_OTHER where
    /// streams that it should go by are broken. After these two all other blocks have come all the same.
    int code() const { return code_; }

  private:
    struct Straight {
        const StraightBlock* block = nullptr;
        BlockMemory memory;
        std::size_t started = 0;  // bytes
        int under_way = 0;        // segments
        std::size_t number = 0;   // of those whose times are noted
        bool is_note = false;
    };
    /// A message under way: a step's, or a segment of a block that goes straight.
    struct Message {
        std::uint32_t step = 0;
        Straight* straight = nullptr;  // nullptr: a step's
        std::size_t bytes = 0;
    };

    void start_ready();
    void start(std::uint32_t step);
    void send(const Step& step, std::uint32_t number);
    void receive(const Step& step, std::uint32_t number);
    void copy(const Step& step);
    void complete(std::uint32_t step);
    void release(std::uint32_t step);
    void take_apart(const Step& step, std::span<std::byte> message);
    void put(const BlockMemory& from, std::uint64_t unit);

    void note_begin(std::size_t number, StepKind kind, int way, Rank peer, Bytes bytes);
    void note_begin(const Straight& straight);
    void note_end(std::size_t number) {
        if (times_ != nullptr) times_->end(number);
    }

    void add_straight();
    void start_straight();
    void start_far();
    void start_near();
    bool is_rooted() const { return operands_.input.size() != operands_.result.size(); }
    /// A root sends alone: who is near it need not wait for others.
    bool is_near_held() const { return !is_rooted() && pace_.seconds_per_byte > 0 && far_left_ > 0; }
    void start_segments(Straight& straight);
    bool start_segment(Straight& straight);
    void go_on(Straight& straight);
    bool may_start(const Straight& straight) const {
        return straight.started < straight.memory.bytes && straight.under_way < window_;
    }
    static bool is_far_send(const Straight& straight) {
        return straight.block->is_sent && straight.block->is_far;
    }
    bool is_root_of_gather() const { return operands_.result.size() > 1 && operands_.input.size() <= 1; }
    bool is_gathered() const { return operands_.result.empty() && operands_.input.size() == 1; }
    void add_notes();
    void heed_note();
    std::uint64_t mean_of_blocks() const;
    std::vector<FarBlock> far_blocks() const;
    Pace pace() const;

    std::size_t blocks_of(std::uint64_t units) const { return static_cast<std::size_t>(units / plan_.units); }
    bool goes_together(const BlockMemory& block) const { return block.bytes <= plan_.longest_together; }
    BlockMemory& slot(Place place, std::size_t i) {
        return slots_[place.buffer][blocks_of(place.offset) + i];
    }
    void start_what_can_start();
    bool look();
    void wait();
    bool take(int code, int finished, const MPI_Status& status);
    void take_message(int finished, const MPI_Status& status);
    bool look_at_streams();
    void look_at_mpi_now_and_then();
    void abandon();
    void check(int code);
    void note_error(int code);

    const PreparedSchedule& prepared_;
    const BlockPlan& plan_;
    const BlockOperands& operands_;
    const Ways& ways_;
    BlockStreams streams_;
    StepTimes* times_;
    std::vector<std::uint32_t> waits_;  // by step
    std::deque<std::uint32_t> ready_;
    std::size_t steps_left_ = 0;
    std::vector<std::vector<BlockMemory>> slots_;         // by buffer: its blocks; not of results
    std::vector<std::unique_ptr<std::byte[]>> messages_;  // by step
    std::vector<Straight> sends_;
    std::vector<Straight> receives_;
    std::size_t bytes_left_ = 0;  // of what goes straight by MPI, as all before it
    bool has_begun_ = false;
    std::vector<Straight*> far_;  // of sends_: to other clusters, and not all started
    std::size_t next_far_ = 0;    // whose turn it is
    std::size_t far_that_may_start_ = 0;
    std::size_t far_left_ = 0;    // bytes of them that have not started
    std::deque<Straight*> near_;  // the same to others of the cluster; the first one is next
    double near_for_far_ = 0;     // bytes of these for each that goes to other clusters
    double near_share_ = 0;       // bytes of them that may go by now
    int window_ = 2;              // segments under way of each block
    Pace pace_;
    Seconds next_paced_{0};
    std::vector<StraightBlock> note_blocks_;
    std::unique_ptr<std::uint64_t> mean_bytes_;  // of the blocks for the root: a note
    std::vector<MPI_Request> requests_;
    std::vector<Message> under_way_;  // of each request
    int looks_ = 0;                   // without MPI
    bool has_failed_ = false;         // MPI has: this rank's part cannot go on
    int code_ = MPI_SUCCESS;
};

}  // namespace laple::mpi
