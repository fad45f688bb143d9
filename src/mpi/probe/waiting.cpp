// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/waiting.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include <sched.h>

namespace laple::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// Linux ends a sleep some 50 us late (timer slack) and may then have to wake the processor up. What is
// expected sooner than kShortWait is polled for; a longer wait is slept through but for a quarter, which
// hides that delay.
constexpr Seconds kShortWait = std::chrono::milliseconds(1);
constexpr double kSleptPart = 0.75;

constexpr Seconds kPolled = std::chrono::microseconds(300);  // unexpected waits: polled so long, then slept
constexpr double kNapPart = 1.0 / 32;                        // makes a wait longer by that part at most
constexpr Seconds kLongestNap = std::chrono::milliseconds(2);
// Among many it is not known which one comes next, so that a nap delays what would have been a short wait.
constexpr Seconds kLongestNapOfMany = std::chrono::microseconds(500);

constexpr auto kSpin = std::chrono::microseconds(500);  // several times what a timer and 16 switches take

constexpr int kHello = 8;  // tag

/// Between two looks at what has been waited for so long.
void pause(Seconds waited, Seconds expected, Seconds longest_nap) {
    if (waited < expected + kPolled) {
        sched_yield();
    } else {
        std::this_thread::sleep_for(std::min(kNapPart * waited, longest_nap));
    }
}

}  // namespace

Seconds now() {
    return Clock::now().time_since_epoch();
}

void rest(Seconds time) {
    const auto start = Clock::now();
    if (time > kShortWait) std::this_thread::sleep_for(time);
    while (Clock::now() - start < time) sched_yield();
}

int wait_quietly(MPI_Request& request, Seconds expected) {
    const auto start = Clock::now();
    if (expected > kShortWait) std::this_thread::sleep_for(kSleptPart * expected);
    while (true) {
        int done = 0;
        const int code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done != 0) return code;
        pause(Clock::now() - start, expected, kLongestNap);
    }
}

int allreduce_quietly(const void* mine, void* all, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      Seconds patience, const std::function<void()>& late) {
    const auto start = Clock::now();
    MPI_Request request = MPI_REQUEST_NULL;
    int code = PMPI_Iallreduce(mine, all, 1, type, op, comm, &request);
    bool has_said = false;
    while (true) {
        int done = 0;
        if (code == MPI_SUCCESS) code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done != 0) return code;
        const Seconds waited = Clock::now() - start;
        if (waited >= patience && !has_said) {
            has_said = true;
            try {
                late();
            } catch (const std::exception&) {
                // The request goes on and must be waited for, whatever cannot be said.
            }
        }
        pause(waited, Seconds(0), kLongestNap);
    }
}

std::size_t wait_for_any_quietly(std::vector<MPI_Request>& requests) {
    const auto start = Clock::now();
    int index = 0;
    int done = 0;
    while (PMPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &done, MPI_STATUS_IGNORE),
           done == 0)
        pause(Clock::now() - start, Seconds(0), kLongestNapOfMany);
    return static_cast<std::size_t>(index);
}

void send_quietly(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Isend(data, count, type, to, tag, comm, &request);
    wait_quietly(request);
}

void receive_quietly(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                     Seconds expected) {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(data, count, type, from, tag, comm, &request);
    wait_quietly(request, expected);
}

void connect(MPI_Comm probes, const std::vector<int>& peers) {
    std::vector<MPI_Request> requests;
    for (const int peer : peers) {
        PMPI_Irecv(nullptr, 0, MPI_BYTE, peer, kHello, probes, &requests.emplace_back());
        PMPI_Isend(nullptr, 0, MPI_BYTE, peer, kHello, probes, &requests.emplace_back());
    }
    for (MPI_Request& request : requests) wait_quietly(request);
}

std::int64_t local_now_ns() {
    return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

std::string local_clock_name() {
    return "CLOCK_MONOTONIC";
}

void wait_until_local(std::int64_t time_ns) {
    std::this_thread::sleep_until(Clock::time_point(std::chrono::nanoseconds(time_ns)) - kSpin);
    while (local_now_ns() < time_ns) sched_yield();
}

}  // namespace laple::mpi
