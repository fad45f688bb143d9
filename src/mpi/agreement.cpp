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

/// What a rank could contribute, in ascending order of how good that is.
enum Offer : int { kNothing, kFile, kAgreed };

/// The lowest rank of those with the best offer; -1 when none has any, or when MPI fails.
int best_giver(Offer offer, MPI_Comm comm, int rank, int size) {
    const int vote = offer == kNothing ? 0 : (offer - kFile) * size + size - rank;
    int best = 0;
    if (PMPI_Allreduce(&vote, &best, 1, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS || best == 0) return -1;
    return size - 1 - (best - 1) % size;
}

/// What the giver has to give.
struct Gift {
    std::optional<Agreement> agreement;
    bool is_refused = false;  ///< the giver has no good file
};

/// On all ranks; `mine` is looked at on the giver only, which gives nothing when it is nullptr.
Gift give(const Agreement* mine, MPI_Comm comm, int giver) {
    std::vector<int> labels;
    std::string algorithm;
    std::array<int, 3> sizes{};  // the first is 0 where there is nothing to give
    if (mine != nullptr) {
        labels = encode(mine->topology);
        algorithm = mine->algorithm;
        sizes = {mine->topology.size(), static_cast<int>(labels.size()), static_cast<int>(algorithm.size())};
    }
    const auto hand_over = [&](void* data, int count, MPI_Datatype type) {
        return count == 0 || PMPI_Bcast(data, count, type, giver, comm) == MPI_SUCCESS;
    };
    if (!hand_over(sizes.data(), 3, MPI_INT)) return {};
    if (sizes[0] == 0) return {{}, true};
    labels.resize(static_cast<std::size_t>(sizes[1]));
    algorithm.resize(static_cast<std::size_t>(sizes[2]));
    if (!hand_over(labels.data(), sizes[1], MPI_INT) || !hand_over(algorithm.data(), sizes[2], MPI_CHAR))
        return {};
    return {Agreement{decode(sizes[0], labels), algorithm}, false};
}

/// What this process can give: what it has agreed on before, or else its file.
std::optional<Agreement> own_offer(Process& process) {
    if (const Agreement* agreed = process.adopted()) return *agreed;
    if (!process.topology()) return std::nullopt;
    return Agreement{*process.topology(), process.settings().algorithm};
}

Gift give_own(Process& process, MPI_Comm comm, int rank, int giver) {
    if (rank != giver) return give(nullptr, comm, giver);
    const auto mine = own_offer(process);
    return give(mine ? &*mine : nullptr, comm, giver);
}

std::optional<Agreement> find_agreement(Process& process, MPI_Comm comm, int rank, int size) {
    const bool has_agreed = process.adopted() != nullptr;
    const Offer setting = process.settings().has_topology() ? kFile : kNothing;
    int giver = best_giver(has_agreed ? kAgreed : setting, comm, rank, size);
    if (giver < 0) return std::nullopt;
    const Gift gift = give_own(process, comm, rank, giver);
    if (!gift.is_refused) return gift.agreement;
    // That file is no good. Now all look into theirs.
    giver = best_giver(process.topology() ? kFile : kNothing, comm, rank, size);
    if (giver >= 0) return give_own(process, comm, rank, giver).agreement;
    warn(process, rank);
    return std::nullopt;
}

}  // namespace

std::optional<Agreement> agree(Process& process, MPI_Comm comm, int rank, int size) {
    auto agreement = find_agreement(process, comm, rank, size);
    if (agreement) process.adopt(*agreement);
    return agreement;
}

}  // namespace laple::mpi
