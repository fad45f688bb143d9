// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/agreement.hpp"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "mpi/log.hpp"

namespace laple::mpi {
namespace {

/// The groups of all ranks, level after level.
std::vector<int> encode(const Topology& topology) {
    std::vector<int> labels;
    for (int level = 0; level < topology.level_count(); ++level) {
        for (Rank rank = 0; rank < topology.size(); ++rank) labels.push_back(topology.group_of(level, rank));
    }
    return labels;
}

Topology decode(int size, const std::vector<int>& labels) {
    std::vector<std::vector<int>> levels;
    for (auto level = labels.begin(); level != labels.end(); level += size)
        levels.emplace_back(level, level + size);
    return Topology::from_labels(size, levels);
}

void warn(Process& process, int rank) {
    if (rank != 0 || !process.may_warn_of_topology()) return;
    const std::string& problem = process.topology_problem();
    say(fmt::format("{}; MPI's own collectives are used",
                    problem.empty()
                        ? "LAPLE_TOPOLOGY is set on some ranks only, and not readable there; set it on "
                          "all of them"
                        : problem));
}

}  // namespace

std::optional<Agreement> agree(Process& process, MPI_Comm comm, int rank, int size) {
    // The greatest `size - rank` of those that have a topology; and whether anybody asked for one.
    std::array<int, 2> votes{process.topology() ? size - rank : 0, process.settings().has_topology() ? 1 : 0};
    if (PMPI_Allreduce(MPI_IN_PLACE, votes.data(), 2, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS)
        return std::nullopt;
    if (votes[0] == 0) {
        if (votes[1] != 0) warn(process, rank);
        return std::nullopt;
    }
    const int giver = size - votes[0];
    std::vector<int> labels;
    std::string algorithm;
    std::array<int, 3> sizes{};
    if (rank == giver) {
        labels = encode(*process.topology());
        algorithm = process.settings().algorithm;
        sizes = {process.topology()->size(), static_cast<int>(labels.size()),
                 static_cast<int>(algorithm.size())};
    }
    const auto give = [&](void* data, int count, MPI_Datatype type) {
        return PMPI_Bcast(data, count, type, giver, comm) == MPI_SUCCESS;
    };
    if (!give(sizes.data(), 3, MPI_INT)) return std::nullopt;
    labels.resize(static_cast<std::size_t>(sizes[1]));
    algorithm.resize(static_cast<std::size_t>(sizes[2]));
    if (!give(labels.data(), sizes[1], MPI_INT)) return std::nullopt;
    if (sizes[2] > 0 && !give(algorithm.data(), sizes[2], MPI_CHAR)) return std::nullopt;
    return Agreement{decode(sizes[0], labels), algorithm};
}

}  // namespace laple::mpi
