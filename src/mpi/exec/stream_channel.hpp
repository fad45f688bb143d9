// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "collectives/schedule/step_graph.hpp"
#include "mpi/exec/channel.hpp"
#include "mpi/exec/operands.hpp"
#include "mpi/exec/stream_routes.hpp"
#include "streams/link.hpp"

namespace laple::mpi {

/// Messages to ranks that are reached by streams (streams::Link): bytes, packed where the data have gaps.
///
/// Of those of one tag to, or from, one peer only the oldest is looked at, as in MpiChannel.
class StreamChannel final : public Channel {
  public:
    /// The references must outlive this.
    StreamChannel(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
                  const StreamRoutes& routes);
    StreamChannel(const StreamChannel&) = delete;
    StreamChannel& operator=(const StreamChannel&) = delete;
    ~StreamChannel() override { abandon(); }

    int send(std::uint32_t step, const Transfer& transfer) override;
    int recv(std::uint32_t step, const Transfer& transfer) override;
    bool is_idle() const override { return watched_.empty(); }
    std::optional<Completion> look() override;
    Completion wait() override;
    void send_nothing(const Transfer& transfer) override;
    void abandon() override;

  private:
    struct Message {
        streams::Posted posted;
        streams::Link* link = nullptr;
        Transfer transfer;
        std::uint64_t bytes = 0;
        std::vector<std::byte> packed;  // where the data have gaps
    };
    /// How many messages there have been with a peer, by tag.
    using Turns = std::map<std::pair<Rank, int>, std::uint32_t>;

    Message& start(std::uint32_t step, const Transfer& transfer);
    streams::MessageKey next_key(Turns& turns, const Transfer& transfer) const;
    std::uint64_t bytes_of(const Transfer& transfer) const;
    Completion completed(std::uint32_t step);
    int code_of(const Message& message, bool is_received) const;

    const PreparedSchedule& prepared_;
    const Operands& operands_;
    const Ways& ways_;
    const StreamRoutes& routes_;
    std::vector<std::unique_ptr<Message>> messages_;  // by step: under way
    std::vector<std::uint8_t> is_oldest_;             // by step: all before it in its channel are complete
    std::vector<std::uint32_t> watched_;              // the oldest steps under way
    std::vector<streams::Link*> links_;               // that messages have gone by, or are expected from
    Turns sent_;
    Turns received_;
};

}  // namespace laple::mpi
