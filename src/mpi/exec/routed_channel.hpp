// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "mpi/exec/memory_channel.hpp"
#include "mpi/exec/mpi_channel.hpp"
#include "mpi/exec/stream_channel.hpp"

namespace laple::mpi {

/// Messages to ranks of this host by memory, where its ranks have some in common (Ways::host); to those that
/// are reached by streams by these; all others by MPI.
class RoutedChannel final : public Channel {
  public:
    /// The references must outlive this. `routes`: nullptr where the plan has no streams.
    RoutedChannel(const PreparedSchedule& prepared, const Operands& operands, const Ways& ways,
                  const StreamRoutes* routes, Scratch& scratch);

    int send(std::uint32_t step, const Transfer& transfer) override {
        return to(transfer.peer).send(step, transfer);
    }
    int recv(std::uint32_t step, const Transfer& transfer) override {
        return to(transfer.peer).recv(step, transfer);
    }
    bool is_idle() const override {
        return mpi_.is_idle() && (!memory_ || memory_->is_idle()) && (!streams_ || streams_->is_idle());
    }
    std::optional<Completion> look() override;
    Completion wait() override;
    void send_nothing(const Transfer& transfer) override { to(transfer.peer).send_nothing(transfer); }
    void abandon() override;

  private:
    Channel& to(Rank peer);

    const Ways& ways_;
    const StreamRoutes* routes_;
    MpiChannel mpi_;
    std::optional<MemoryChannel> memory_;
    std::optional<StreamChannel> streams_;
};

}  // namespace laple::mpi
