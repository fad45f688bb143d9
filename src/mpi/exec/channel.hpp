// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include <mpi.h>

#include "base/units.hpp"

namespace laple::mpi {

/// Units of a rank's memory that go to another rank, or come from there.
struct Transfer {
    void* data = nullptr;
    int count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    Rank peer = -1;
    int tag = 0;
};

/// The way of an operation's messages to other ranks. A message belongs to a step of the operation's
/// schedule, and those of one tag to, or from, one peer are started and completed in their order.
class Channel {
  public:
    /// A step whose message has gone or come. `code` is MPI_SUCCESS; or MPI's error code, and
    /// MPI_ERR_TRUNCATE also where fewer units have come than were expected; then the step may be unknown.
    struct Completion {
        std::uint32_t step = 0;
        int code = MPI_SUCCESS;
    };

    virtual ~Channel() = default;

    /// Start a step's message; return MPI's error code.
    virtual int send(std::uint32_t step, const Transfer& transfer) = 0;
    virtual int recv(std::uint32_t step, const Transfer& transfer) = 0;

    /// Whether nothing is under way.
    virtual bool is_idle() const = 0;
    /// A step that has completed; nothing where none has.
    virtual std::optional<Completion> look() = 0;
    /// The same, and waits for one; not to be called when the channel is idle.
    virtual Completion wait() = 0;

    /// Sends an empty message in place of data that this rank does not have; its completion is not reported.
    virtual void send_nothing(const Transfer& transfer) = 0;
    /// After it, nothing goes on writing to memory that was given to recv(), or reading from that given to
    /// send(), unless a peer comes later than some seconds: MPI cannot cancel a message that it has begun to
    /// receive.
    virtual void abandon() = 0;
};

}  // namespace laple::mpi
