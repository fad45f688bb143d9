// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/exec/cluster_calls.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "mpi/exec/communicator.hpp"

namespace laple::mpi {

int ClusterCalls::rank_in_cluster(Rank rank) const {
    const auto found = std::find(ways_.cluster_ranks.begin(), ways_.cluster_ranks.end(), rank);
    return static_cast<int>(found - ways_.cluster_ranks.begin());
}

/// For no units (a barrier's have no bytes) only synchronisation is left, which MPI's own broadcast and
/// reduction of nothing do not guarantee.
int ClusterCalls::bcast(const Step& step) const {
    const int count = memory_.count_of(step);
    if (count == 0) return PMPI_Barrier(ways_.cluster);
    return PMPI_Bcast(memory_.address(step.to), count, operands_.type, rank_in_cluster(step.peer),
                      ways_.cluster);
}

int ClusterCalls::reduce(const Step& step) const {
    const int count = memory_.count_of(step);
    if (count == 0) return PMPI_Barrier(ways_.cluster);
    const int root = rank_in_cluster(step.peer);
    const std::byte* from = memory_.address(step.from);
    std::byte* to = rank_in(ways_.cluster) == root ? memory_.address(step.to) : nullptr;
    // Not MPI_IN_PLACE: MPICH 4.0.2 crashes on it above some KiB when the root is not rank 0.
    std::vector<std::byte> copy_of_input;
    if (from == to) {
        const TypeLayout::Span span = operands_.layout.span_of(step.units);
        const std::byte* const first = moved(from, span.low);
        copy_of_input.assign(first, first + span.bytes);
        from = moved(copy_of_input.data(), -span.low);
    }
    return PMPI_Reduce(from, to, count, operands_.type, operands_.op, root, ways_.cluster);
}

/// MPI finds that the others of the cluster want another length. For an empty message it would not contact
/// them.
void ClusterCalls::spoil_bcast(const Step& step) const {
    std::array<std::byte, 2> bytes{};
    const MPI_Count wanted = memory_.count_of(step) * operands_.layout.size;
    if (wanted == 0) {
        PMPI_Barrier(ways_.cluster);
        return;
    }
    PMPI_Bcast(bytes.data(), wanted == 1 ? 2 : 1, MPI_BYTE, rank_in_cluster(step.peer), ways_.cluster);
}

}  // namespace laple::mpi
