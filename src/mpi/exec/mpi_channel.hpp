// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/schedule/step_graph.hpp"
#include "mpi/exec/channel.hpp"
#include "mpi/exec/scratch.hpp"

namespace laple::mpi {

/// Messages by MPI point-to-point calls.
///
/// Of those of one tag to, or from, one peer only the oldest is looked at: the others follow it,
/// and polling hundreds of requests takes time from ranks that share the processor.
class MpiChannel final : public Channel {
  public:
    /// `lists` is scratch memory; the references must outlive this.
    MpiChannel(const PreparedSchedule& prepared, MPI_Comm comm, Scratch::Lists& lists);

    int send(std::uint32_t step, const Transfer& transfer) override;
    int recv(std::uint32_t step, const Transfer& transfer) override;
    bool is_idle() const override { return lists_.watched.empty(); }
    std::optional<Completion> look() override;
    Completion wait() override;
    void send_nothing(const Transfer& transfer) override;
    void abandon() override;

  private:
    void has_started(std::uint32_t step);
    void watch(std::uint32_t step);
    void complete_most();
    Completion completed(int finished, int code, const MPI_Status& status);
    int check_length(const Step& step, const MPI_Status& status) const;

    const PreparedSchedule& prepared_;
    MPI_Comm comm_;
    Scratch::Lists& lists_;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;  // of all messages
    bool has_size_ = false;                  // that type has bytes
};

}  // namespace laple::mpi
