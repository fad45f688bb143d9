// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/clock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "base/hash.hpp"
#include "base/index.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/probe/hosts.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr int kTag = 1;

/// The same on two ranks, and not 0: they read the same CLOCK_MONOTONIC. One running kernel is not enough,
/// since a time namespace shifts the clock.
std::uint64_t clock_identity() {
    const std::string kernel = boot_id();
    if (kernel.empty()) return 0;
    std::array<char, 48> time_namespace{};
    const ssize_t length = readlink("/proc/self/ns/time", time_namespace.data(), time_namespace.size() - 1);
    return fnv1a(length > 0 ? time_namespace.data() : "", fnv1a(kernel));
}

/// Of each rank, the first one that reads the same clock. Collective.
std::vector<int> first_with_same_clock(MPI_Comm comm) {
    const std::uint64_t mine = clock_identity();
    std::vector<std::uint64_t> all(static_cast<std::size_t>(size_of(comm)));
    PMPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, comm);
    std::map<std::uint64_t, int> firsts;
    std::vector<int> first;
    for (const std::uint64_t identity : all) {
        const int rank = static_cast<int>(first.size());
        first.push_back(identity == 0 ? rank : firsts.try_emplace(identity, rank).first->second);
    }
    return first;
}

std::vector<int> first_of(MPI_Comm comm, ClockChoice choice) {
    if (choice == ClockChoice::automatic) return first_with_same_clock(comm);
    std::vector<int> first(static_cast<std::size_t>(size_of(comm)), 0);
    if (choice == ClockChoice::measured) std::iota(first.begin(), first.end(), 0);
    return first;
}

}  // namespace

Clock::Clock(MPI_Comm control, ClockChoice choice) : control_(control), first_(first_of(control, choice)) {
    synchronize();
}

bool Clock::is_shared() const {
    return std::all_of(first_.begin(), first_.end(), [](int first) { return first == 0; });
}

void Clock::synchronize() {
    if (is_shared()) return;
    const int rank = rank_in(control_);
    if (rank != 0 && first_[at(rank)] == rank) answer_pings();
    std::vector<std::int64_t> offsets(rank == 0 ? first_.size() : 0);
    std::int64_t error = 0;
    // One after the other: pings of several ranks at once would disturb each other.
    for (int other = 1; other < static_cast<int>(offsets.size()); ++other) {
        const int first = first_[at(other)];
        if (first < other) {
            offsets[at(other)] = offsets[at(first)];
            continue;
        }
        const Offset measured = ping(other);
        offsets[at(other)] = measured.value;
        error = std::max(error, measured.error);
    }
    PMPI_Scatter(offsets.data(), 1, MPI_INT64_T, &offset_ns_, 1, MPI_INT64_T, 0, control_);
    PMPI_Bcast(&error, 1, MPI_INT64_T, 0, control_);
    error_ns_ = error;
}

Clock::Offset Clock::ping(int rank) const {
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
    return {offset, shortest / 2};
}

void Clock::answer_pings() const {
    std::int64_t message = 0;
    for (int i = 0; i < kExchanges; ++i) {
        PMPI_Recv(&message, 1, MPI_INT64_T, 0, kTag, control_, MPI_STATUS_IGNORE);
        message = local_now_ns();
        PMPI_Send(&message, 1, MPI_INT64_T, 0, kTag, control_);
    }
}

std::int64_t Clock::now_ns() const {
    return local_now_ns() + offset_ns_;
}

void Clock::wait_until(std::int64_t time_ns) const {
    wait_until_local(time_ns - offset_ns_);
}

std::string Clock::description() const {
    if (is_shared()) return local_clock_name() + ", shared by all ranks";
    return fmt::format("offsets to rank 0 by ping-pongs, right to {:.1f} us",
                       static_cast<double>(error_ns_) / 1000);
}

}  // namespace laple::mpi
