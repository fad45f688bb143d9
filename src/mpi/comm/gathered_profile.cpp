// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/gathered_profile.hpp"

#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
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

/// Rank 0's, on all ranks.
std::vector<std::string> told_by_rank_zero(const std::vector<std::string>& lines) {
    std::string text = fmt::format("{}", fmt::join(lines, "\n"));
    int length = static_cast<int>(text.size());
    PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    text.resize(at(length));
    PMPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    std::istringstream stream(text);
    std::vector<std::string> told;
    for (std::string line; std::getline(stream, line);) told.push_back(line);
    return told;
}

void compare_times(Report& report) {
    const std::vector<std::string> kinds = told_by_rank_zero(report.kinds_to_compare());
    const std::vector<double> times = report.times_to_compare(kinds);
    std::vector<double> least(times.size());
    std::vector<double> mean(times.size());
    const int count = static_cast<int>(times.size());
    PMPI_Allreduce(times.data(), least.data(), count, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(times.data(), mean.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (double& sum : mean) sum /= size_of(MPI_COMM_WORLD);
    report.learn_least(kinds, least, mean);
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

Profile gathered_profile(Report& report, const Report::Duration& job, const std::optional<Machine>& machine) {
    static_assert(std::is_trivially_copyable_v<RankTimes>);
    constexpr int kNumbers = sizeof(RankTimes) / sizeof(double);
    const ReturnErrors guard(MPI_COMM_WORLD);
    compare_times(report);
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
