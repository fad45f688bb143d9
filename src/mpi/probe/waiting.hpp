// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/units.hpp"

/// Time and waiting. Simulated runs have an implementation of their own.
namespace laple::mpi {

/// This process's time since some instant.
Seconds now();

/// Lets time pass without any call of MPI.
void rest(Seconds time);

/// Completes `request`, without keeping the processor busy while there is nothing to do: MPI itself polls,
/// and a process that polls spoils the measurements of others that share its processor.
///
/// Give as `expected` how soon it will not be complete yet, or 0 when that is unknown. The process sleeps for
/// most of that time, polls with sched_yield around its end, and when it lasts longer, sleeps for a small
/// part of the time passed so far (at most 2 ms) between polls. Returns MPI's error code.
int wait_quietly(MPI_Request& request, Seconds expected = Seconds(0));

/// MPI_Allreduce of one element of `type`. Waits in the same way, calls `late` once when it has lasted
/// `patience`, and goes on waiting. Returns MPI's error code.
int allreduce_quietly(const void* mine, void* all, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      Seconds patience, const std::function<void()>& late);

/// Completes one of `requests`, of which none is MPI_REQUEST_NULL, in the same way. Returns its index.
std::size_t wait_for_any_quietly(std::vector<MPI_Request>& requests);

/// MPI_Send and MPI_Recv in terms of wait_quietly.
void send_quietly(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
void receive_quietly(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                     Seconds expected = Seconds(0));

/// An empty message.
inline void send_signal(int to, int tag, MPI_Comm comm) {
    send_quietly(nullptr, 0, MPI_BYTE, to, tag, comm);
}
inline void wait_for_signal(int from, int tag, MPI_Comm comm) {
    receive_quietly(nullptr, 0, MPI_BYTE, from, tag, comm);
}

/// Makes the connections to all of `peers`, who all call this too, at the same time: each takes some round
/// trips. MPI makes them at the first message. In simulations there are none to make, and nothing is sent.
void connect(MPI_Comm probes, const std::vector<int>& peers);

/// This process's clock, in nanoseconds, and what it is called.
std::int64_t local_now_ns();
std::string local_clock_name();

/// Returns at `time_ns` of that clock, at once when that is past. Sleeps, then yields: ranks that share a
/// core all get their turn.
void wait_until_local(std::int64_t time_ns);

/// When a measurement must come to its end: at a time of this process's clock, or when somebody says so, from
/// a signal handler for example.
struct Patience {
    Seconds until{std::numeric_limits<double>::infinity()};
    const std::atomic<bool>* is_interrupted = nullptr;

    bool is_over() const {
        return (is_interrupted != nullptr && is_interrupted->load(std::memory_order_relaxed)) ||
               now() > until;
    }
};

}  // namespace laple::mpi
