// SPDX-License-Identifier: BSD-3-Clause
// What the entry points of liblaple_profile do around MPI's own calls.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include <mpi.h>

#include "base/index.hpp"
#include "mpi/comm/messages.hpp"
#include "mpi/exec/transport.hpp"
#include "mpi/profile/peers.hpp"

namespace laple::mpi {

/// Whether somebody wants a profile.
bool is_counting();

/// A number for MPI's handle, which is one or a pointer.
inline Messages::Request number_of(MPI_Request request) {
    return (Messages::Request)request;  // NOLINT: one cast for both
}

inline Messages::Message message_of(MPI_Count count, MPI_Datatype type, int to, MPI_Comm comm) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return {peer_in_world(comm, to), static_cast<Bytes>(count) * static_cast<Bytes>(size)};
}

/// Returns what `call` does; `time` is how long it took.
template <typename Call>
int timed(Seconds& time, Call call) {
    const Seconds start = clock_time();
    const int code = call();
    time = clock_time() - start;
    return code;
}

/// Who it was from, where MPI tells only afterwards.
inline int source_in(int asked_for, const MPI_Status& status) {
    return asked_for == MPI_ANY_SOURCE ? status.MPI_SOURCE : asked_for;
}

/// A status to look at: the program's or, where it wants none, `own`.
inline MPI_Status* status_for(MPI_Status* wanted, MPI_Status& own) {
    return wanted == MPI_STATUS_IGNORE ? &own : wanted;
}

/// The requests of a call as they are before it: MPI changes them. The call begins when this is made.
class Requested {
  public:
    /// `request_of(i)`: MPI's handle. What MPI will refuse is no request.
    template <std::invocable<std::size_t> RequestOf>
    Requested(Messages::Line& line, int count, RequestOf request_of) : line_(line) {
        const std::size_t size = count > 0 ? at(count) : 0;
        if (size > few_.size()) many_.resize(size);
        numbers_ = {many_.empty() ? few_.data() : many_.data(), size};
        for (std::size_t i = 0; i < size; ++i) numbers_[i] = number_of(request_of(i));
        start_ = clock_time();
    }
    Requested(Messages::Line& line, int count, const MPI_Request* requests)
        : Requested(line, requests != nullptr ? count : 0,
                    [requests](std::size_t i) { return requests[i]; }) {}
    Requested(const Requested&) = delete;
    Requested& operator=(const Requested&) = delete;

  protected:
    Seconds time() const { return clock_time() - start_; }

    Messages::Line& line_;
    std::span<Messages::Request> numbers_;

  private:
    std::array<Messages::Request, 8> few_;
    std::vector<Messages::Request> many_;
    Seconds start_{0};
};

/// A call that waits for requests, or looks at them. To be told at its end which of them are complete.
class Waiting : public Requested {
  public:
    using Requested::Requested;

    /// All, or none.
    void end_with(bool are_complete) {
        if (are_complete) return Messages::get().waited_for_all(line_, time(), numbers_);
        end({});
    }
    /// The one at `index`, unless that is MPI_UNDEFINED.
    void end_with_one(bool is_complete, const int* index) {
        end({index, is_complete && *index != MPI_UNDEFINED ? 1U : 0U});
    }
    /// Those at `count` positions.
    void end_with_some(bool are_complete, const int* count, const int* indices) {
        end({indices, are_complete && *count != MPI_UNDEFINED ? at(*count) : 0});
    }
    void end(std::span<const int> completed) { Messages::get().waited(line_, time(), numbers_, completed); }
};

/// A call that starts persistent requests.
class Starting : public Requested {
  public:
    using Requested::Requested;

    int end(int code) {
        if (code == MPI_SUCCESS) Messages::get().started(line_, time(), numbers_);
        return code;
    }
};

}  // namespace laple::mpi
