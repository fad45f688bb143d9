// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/clock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <span>
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
constexpr int kExchanges = 12;       // ping-pongs with each machine that has a clock of its own
constexpr std::size_t kAtOnce = 16;  // machines: the answers of more would wait for each other

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

Seconds Clock::time_to_compare(std::size_t machines, Seconds latency) {
    const std::size_t turns = (machines + kAtOnce - 1) / kAtOnce;
    return static_cast<double>(turns * kExchanges) * 2 * latency;
}

bool Clock::is_shared() const {
    return std::all_of(first_.begin(), first_.end(), [](int first) { return first == 0; });
}

void Clock::synchronize() {
    if (is_shared()) return;
    const int rank = rank_in(control_);
    if (rank != 0 && first_[at(rank)] == rank) answer_pings();
    std::vector<Offset> offsets;
    if (rank == 0) offsets = measure_offsets();
    std::vector<std::int64_t> values;
    std::int64_t error = 0;
    for (const Offset& offset : offsets) {
        values.push_back(offset.value);
        error = std::max(error, offset.error);
    }
    PMPI_Scatter(values.data(), 1, MPI_INT64_T, &offset_ns_, 1, MPI_INT64_T, 0, control_);
    PMPI_Bcast(&error, 1, MPI_INT64_T, 0, control_);
    error_ns_ = error;
}

/// Of all ranks.
std::vector<Clock::Offset> Clock::measure_offsets() const {
    std::vector<int> others;
    for (int rank = 1; rank < static_cast<int>(first_.size()); ++rank) {
        if (first_[at(rank)] == rank) others.push_back(rank);
    }
    std::vector<Offset> offsets(first_.size());
    for (std::size_t begin = 0; begin < others.size(); begin += kAtOnce) {
        const auto some = std::span(others).subspan(begin, std::min(kAtOnce, others.size() - begin));
        const std::vector<Offset> measured = ping(some);
        for (std::size_t i = 0; i < some.size(); ++i) offsets[at(some[i])] = measured[i];
    }
    for (std::size_t rank = 0; rank < first_.size(); ++rank) offsets[rank] = offsets[at(first_[rank])];
    return offsets;
}

std::vector<Clock::Offset> Clock::ping(std::span<const int> ranks) const {
    const std::size_t count = ranks.size();
    std::vector<Offset> best(count, {0, std::numeric_limits<std::int64_t>::max()});
    std::vector<std::int64_t> sent(count);
    std::vector<std::int64_t> theirs(count);
    std::vector<MPI_Request> answers(count);
    for (int exchange = 0; exchange < kExchanges; ++exchange) {
        for (std::size_t i = 0; i < count; ++i)
            PMPI_Irecv(&theirs[i], 1, MPI_INT64_T, ranks[i], kTag, control_, &answers[i]);
        for (std::size_t i = 0; i < count; ++i) {
            sent[i] = local_now_ns();
            PMPI_Send(&sent[i], 1, MPI_INT64_T, ranks[i], kTag, control_);
        }
        for (std::size_t left = count; left > 0; --left) {
            int which = 0;
            PMPI_Waitany(static_cast<int>(count), answers.data(), &which, MPI_STATUS_IGNORE);
            const std::size_t i = at(which);
            const std::int64_t half = (local_now_ns() - sent[i]) / 2;
            // The shortest round trip was delayed least; its middle is our best guess of their reading.
            if (half < best[i].error) best[i] = {sent[i] + half - theirs[i], half};
        }
    }
    return best;
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
