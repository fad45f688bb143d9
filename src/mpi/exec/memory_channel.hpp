// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/schedule/step_graph.hpp"
#include "mpi/exec/channel.hpp"
#include "mpi/exec/host_memory.hpp"
#include "mpi/exec/operands.hpp"
#include "mpi/exec/scratch.hpp"

namespace laple::mpi {

/// Messages to and from ranks of the same host, through memory that they share: the sender copies data in,
/// the receiver copies them out. What a rank sends to several others (Step::repeats) it copies in once.
///
///     sender    data ──copy──► block of its pool ──copy──► receiver 1
///                                            └─────copy──► receiver 2
///
/// A send is complete when all its data are copied in, and waits for room where its ring or its pool is full;
/// a message for which there is no receive yet is kept aside, so that those behind it can be read. A rank
/// that has returned from the call reads no more: what else is sent to it, where lengths differ, is dropped.
class MemoryChannel final : public Channel {
  public:
    /// `ways.host` must be there. The references must outlive this.
    MemoryChannel(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
                  Scratch::MemoryLists& lists);
    MemoryChannel(const MemoryChannel&) = delete;
    MemoryChannel& operator=(const MemoryChannel&) = delete;
    /// The call is over for this rank.
    ~MemoryChannel() override { memory_.leave(call_); }

    int send(std::uint32_t step, const Transfer& transfer) override;
    int recv(std::uint32_t step, const Transfer& transfer) override;
    bool is_idle() const override {
        return lists_.sends.empty() && lists_.receives.empty() && lists_.completed.empty();
    }
    std::optional<Completion> look() override;
    Completion wait() override;
    void send_nothing(const Transfer& transfer) override;
    void abandon() override;

  private:
    using Sending = Scratch::MemoryLists::Sending;
    using Repeats = Scratch::MemoryLists::Repeats;
    using Receiving = Scratch::MemoryLists::Receiving;

    int place_of(Rank peer) const { return ways_.place_on_host[static_cast<std::size_t>(peer)]; }
    bool go_on(Sending& sending);
    void drop(const Sending& sending);
    std::optional<std::uint32_t> block_for(const Sending& sending, std::uint32_t bytes);
    Repeats* repeats_of(const Sending& sending);
    std::uint32_t count_sent(Repeats& repeats, std::uint32_t block);
    bool may_share(std::uint64_t bytes) const;
    std::uint32_t first_of_repeats(std::uint32_t step) const;
    std::uint32_t count_repeats(std::uint32_t first) const;
    bool is_waiting_before(std::size_t index) const;
    void send_more();
    /// Whether only messages are read that receives wait for.
    enum class Wanted { yes, no };
    void read(int from, Wanted wanted);
    void make_room();
    bool begin(int from, const HostMemory::Cell& cell, Wanted wanted);
    Receiving* receive_for(int from, const HostMemory::Cell& cell);
    Receiving* receive_of(std::int64_t step);
    void take(Receiving& receiving, const std::byte* data, std::uint64_t at, std::uint64_t bytes);
    void received(std::uint32_t step, std::uint64_t total);
    bool take_unexpected(Receiving& receiving);
    void find_failures();
    void complete(std::uint32_t step, int code) { lists_.completed.push_back({step, code}); }

    const Schedule& schedule_;
    const Operands& operands_;
    const Ways& ways_;
    std::uint64_t call_;
    HostMemory& memory_;
    Scratch::MemoryLists& lists_;
    int idle_looks_ = 0;
};

}  // namespace laple::mpi
