// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/gathered_profile.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <mpi.h>

#include "base/configuration.hpp"
#include "base/index.hpp"
#include "mpi/comm/messages.hpp"
#include "mpi/comm/own_comms.hpp"
#include "mpi/exec/communicator.hpp"

namespace laple::mpi {
namespace {

/// On rank 0.
void add_up(std::vector<std::uint64_t>& cells) {
    const bool is_root = rank_in(MPI_COMM_WORLD) == 0;
    PMPI_Reduce(is_root ? MPI_IN_PLACE : cells.data(), cells.data(), static_cast<int>(cells.size()),
                MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
}

}  // namespace

Profile own_profile(const Report& report, const Report::Duration& job,
                    const std::optional<Machine>& machine) {
    const Messages& messages = Messages::get();
    const auto [collectives, late] = report.times(job);
    RankTimes times;
    times.counts_messages = messages.are_counted() && configuration().settings.is_profile ? 1 : 0;
    times.wall = job.wall.count();
    times.set_up = job.set_up.count();
    times.collectives = collectives.count();
    times.late = late.count();
    add_messages(messages, machine ? &*machine : nullptr, rank_in(MPI_COMM_WORLD), times);
    Profile profile;
    profile.lines = messages.lines();
    profile.ranks.push_back(times);
    return profile;
}

Profile gathered_profile(const Report& report, const Report::Duration& job,
                         const std::optional<Machine>& machine) {
    static_assert(std::is_trivially_copyable_v<RankTimes>);
    constexpr int kNumbers = sizeof(RankTimes) / sizeof(double);
    const ReturnErrors guard(MPI_COMM_WORLD);
    Profile profile = own_profile(report, job, machine);
    std::vector<RankTimes> all(at(size_of(MPI_COMM_WORLD)));
    PMPI_Gather(profile.ranks.data(), kNumbers, MPI_DOUBLE, all.data(), kNumbers, MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
    profile.ranks = std::move(all);
    profile.has_all_ranks = true;
    if (!machine) return profile;
    profile.parts = parts_of(*machine);
    profile.traffic = TrafficMatrix(profile.parts.ranks.size());
    if (!profile.parts.is_known()) return profile;
    profile.traffic.add(profile.parts, rank_in(MPI_COMM_WORLD), Messages::get().traffic());
    add_up(profile.traffic.messages);
    add_up(profile.traffic.bytes);
    return profile;
}

}  // namespace laple::mpi
