// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/local_time.hpp"

#include <cerrno>

#include <sched.h>
#include <time.h>

namespace laple::mpi {
namespace {

constexpr std::int64_t kSpinNs = 500'000;  // several times what a timer and 16 switches of context take

}  // namespace

std::int64_t local_now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void wait_until_local(std::int64_t time_ns) {
    const std::int64_t wake_ns = time_ns - kSpinNs;
    if (wake_ns > local_now_ns()) {
        const timespec wake{wake_ns / 1'000'000'000, wake_ns % 1'000'000'000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr) == EINTR) {
        }
    }
    while (local_now_ns() < time_ns) sched_yield();
}

std::string local_clock_name() {
    return "CLOCK_MONOTONIC";
}

}  // namespace laple::mpi
