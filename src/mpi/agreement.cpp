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

/// The lowest rank that says yes; -1 when none does, or when MPI fails.
int lowest(bool is_willing, MPI_Comm comm, int rank, int size) {
    const int vote = is_willing ? size - rank : 0;
    int best = 0;
    if (PMPI_Allreduce(&vote, &best, 1, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS) return -1;
    return best == 0 ? -1 : size - best;
}

/// What rank `giver` has to give; nothing when it has no good file, or when MPI fails.
struct Gift {
    std::optional<Agreement> agreement;
    bool is_refused = false;  ///< the giver has no good file
};

Gift receive(Process& process, MPI_Comm comm, bool is_giver, int giver) {
    std::vector<int> labels;
    std::string algorithm;
    std::array<int, 3> sizes{};  // the first is 0 where there is nothing to give
    if (is_giver && process.topology()) {
        labels = encode(*process.topology());
        algorithm = process.settings().algorithm;
        sizes = {process.topology()->size(), static_cast<int>(labels.size()),
                 static_cast<int>(algorithm.size())};
    }
    const auto give = [&](void* data, int count, MPI_Datatype type) {
        return count == 0 || PMPI_Bcast(data, count, type, giver, comm) == MPI_SUCCESS;
    };
    if (!give(sizes.data(), 3, MPI_INT)) return {};
    if (sizes[0] == 0) return {{}, true};
    labels.resize(static_cast<std::size_t>(sizes[1]));
    algorithm.resize(static_cast<std::size_t>(sizes[2]));
    if (!give(labels.data(), sizes[1], MPI_INT) || !give(algorithm.data(), sizes[2], MPI_CHAR)) return {};
    return {Agreement{decode(sizes[0], labels), algorithm}, false};
}

}  // namespace

std::optional<Agreement> agree(Process& process, MPI_Comm comm, int rank, int size) {
    int giver = lowest(process.settings().has_topology(), comm, rank, size);
    if (giver < 0) return std::nullopt;
    const Gift gift = receive(process, comm, rank == giver, giver);
    if (!gift.is_refused) return gift.agreement;
    // That file is no good. Now all look into theirs.
    giver = lowest(process.topology().has_value(), comm, rank, size);
    if (giver >= 0) return receive(process, comm, rank == giver, giver).agreement;
    warn(process, rank);
    return std::nullopt;
}

}  // namespace laple::mpi
