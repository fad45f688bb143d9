// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/algorithms/block_routes.hpp"
#include "mpi/exec/operands.hpp"
#include "mpi/exec/stream_routes.hpp"
#include "streams/link.hpp"

namespace laple::mpi {

/// The blocks of one call that go straight, and by streams: each as one message of the link (streams::Link)
/// of its two ranks, which cuts it into stripes and finds its rate by itself.
class BlockStreams {
  public:
    /// The references must outlive this. `routes`: nullptr where nobody is reached. `tag`: no other message
    /// of the call goes by streams with it, and each rank has one block at most for each other one: so no two
    /// messages have the same key.
    BlockStreams(const Ways& ways, const StreamRoutes* routes, int tag)
        : ways_(ways), routes_(routes), tag_(tag) {}
    BlockStreams(const BlockStreams&) = delete;
    BlockStreams& operator=(const BlockStreams&) = delete;
    ~BlockStreams() { abandon(); }

    /// Whether all blocks to and from `peer` that go straight go by streams; `peer` finds the same.
    bool reach(Rank peer) const { return routes_ != nullptr && routes_->to(peer).link != nullptr; }

    /// `number` tells it from others when it is complete. `memory` must stay where it is until then.
    void start(const StraightBlock& block, std::span<std::byte> memory, std::size_t number);

    bool is_idle() const { return messages_.empty(); }

    struct Completion {
        std::size_t number = 0;
        int code = MPI_SUCCESS;  ///< MPI_ERR_TRUNCATE: what came has another length; MPI_ERR_OTHER: the link
                                 ///< is broken
    };
    /// Goes on with all that are under way, without waiting; one that is complete then.
    std::optional<Completion> look();

    /// Those that are under way are none of the caller's business any more, and neither is their memory.
    /// Blocks of which nothing has gone yet come to their ranks as empty ones.
    void abandon();

  private:
    struct Message {
        streams::Posted posted;
        streams::Link* link = nullptr;
        bool is_sent = false;
        std::uint64_t bytes = 0;
        std::size_t number = 0;
    };

    std::optional<Completion> take_complete();
    void progress_links();

    const Ways& ways_;
    const StreamRoutes* routes_;
    int tag_;
    std::vector<std::unique_ptr<Message>> messages_;  // under way
    std::vector<streams::Link*> links_;               // of these, each once
};

}  // namespace laple::mpi
