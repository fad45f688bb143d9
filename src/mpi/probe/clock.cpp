// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/clock.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "mpi/exec/communicator.hpp"
#include "mpi/probe/hosts.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr int kTag = 1;

/// The same text on two ranks, and not empty: they read the same CLOCK_MONOTONIC. One running kernel is not
/// enough, since a time namespace shifts the clock.
std::array<char, 128> clock_identity() {
    std::array<char, 128> identity{};
    const std::string kernel = boot_id();
    if (kernel.empty()) return identity;
    std::array<char, 48> time_namespace{};
    const ssize_t length = readlink("/proc/self/ns/time", time_namespace.data(), time_namespace.size() - 1);
    const std::string text = kernel + (length > 0 ? time_namespace.data() : "");
    std::memcpy(identity.data(), text.data(), std::min(text.size(), identity.size() - 1));
    return identity;
}

/// Collective.
bool all_read_one_clock(MPI_Comm comm) {
    const auto mine = clock_identity();
    auto of_rank_0 = mine;
    PMPI_Bcast(of_rank_0.data(), static_cast<int>(of_rank_0.size()), MPI_CHAR, 0, comm);
    int same = mine == of_rank_0 && mine[0] != '\0' ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm);
    return same != 0;
}

}  // namespace

Clock::Clock(MPI_Comm control, ClockChoice choice) : control_(control) {
    shared_ =
        choice == ClockChoice::shared || (choice == ClockChoice::automatic && all_read_one_clock(control));
    synchronize();
}

void Clock::synchronize() {
    if (shared_) return;
    // One after the other: pings of several ranks at once would disturb each other.
    std::int64_t error = 0;
    if (rank_in(control_) == 0) {
        for (int other = 1; other < size_of(control_); ++other) error = std::max(error, ping(other));
    } else {
        offset_ns_ = answer_pings();
    }
    PMPI_Bcast(&error, 1, MPI_INT64_T, 0, control_);
    error_ns_ = error;
}

std::int64_t Clock::ping(int rank) const {
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    std::int64_t offset = 0;
    for (int i = 0; i < kExchanges; ++i) {
        std::int64_t theirs = 0;
        const std::int64_t sent = local_now_ns();
        PMPI_Send(&theirs, 1, MPI_INT64_T, rank, kTag, control_);
        PMPI_Recv(&theirs, 1, MPI_INT64_T, rank, kTag, control_, MPI_STATUS_IGNORE);
        const std::int64_t round_trip = local_now_ns() - sent;
        if (round_trip >= shortest) continue;
        // The shortest round trip was delayed least; its middle is our best guess of their reading.
        shortest = round_trip;
        offset = sent + round_trip / 2 - theirs;
    }
    PMPI_Send(&offset, 1, MPI_INT64_T, rank, kTag, control_);
    return shortest / 2;
}

std::int64_t Clock::answer_pings() const {
    std::int64_t message = 0;
    for (int i = 0; i < kExchanges; ++i) {
        PMPI_Recv(&message, 1, MPI_INT64_T, 0, kTag, control_, MPI_STATUS_IGNORE);
        message = local_now_ns();
        PMPI_Send(&message, 1, MPI_INT64_T, 0, kTag, control_);
    }
    PMPI_Recv(&message, 1, MPI_INT64_T, 0, kTag, control_, MPI_STATUS_IGNORE);
    return message;
}

std::int64_t Clock::now_ns() const {
    return local_now_ns() + offset_ns_;
}

void Clock::wait_until(std::int64_t time_ns) const {
    wait_until_local(time_ns - offset_ns_);
}

std::string Clock::description() const {
    if (shared_) return local_clock_name() + ", shared by all ranks";
    return fmt::format("offsets to rank 0 by ping-pongs, right to {:.1f} us",
                       static_cast<double>(error_ns_) / 1000);
}

}  // namespace laple::mpi
