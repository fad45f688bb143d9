// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/nodes.hpp"

#include <cstddef>

#include "mpi/probe/hosts.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr int kMeasured = 1;  // tag

int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

}  // namespace

NodeLayout::NodeLayout(MPI_Comm comm) {
    // Not MPI_Comm_dup: it would run the copy callbacks of the user's attributes.
    if (PMPI_Comm_split(comm, 0, rank_in(comm), &all_) != MPI_SUCCESS) return;
    if (PMPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, rank_in(all_), MPI_INFO_NULL, &node_) != MPI_SUCCESS)
        return;
    if (PMPI_Comm_split(all_, rank_in(node_) == 0 ? 0 : MPI_UNDEFINED, rank_in(all_), &probes_) !=
        MPI_SUCCESS)
        return;
    is_good_ = true;
    gather_nodes();
}

NodeLayout::~NodeLayout() {
    for (MPI_Comm* comm : {&probes_, &node_, &all_}) {
        if (*comm != MPI_COMM_NULL) PMPI_Comm_free(comm);
    }
}

void NodeLayout::gather_nodes() {
    int node_index = probes_ == MPI_COMM_NULL ? 0 : rank_in(probes_);
    PMPI_Bcast(&node_index, 1, MPI_INT, 0, node_);

    const bool is_first = rank_in(all_) == 0;
    std::vector<int> node_of_rank(is_first ? static_cast<std::size_t>(size_of(all_)) : 0);
    PMPI_Gather(&node_index, 1, MPI_INT, node_of_rank.data(), 1, MPI_INT, 0, all_);
    if (probes_ == MPI_COMM_NULL) return;

    const auto hosts = gather_host_names(probes_, 0, rank_in(probes_), size_of(probes_));
    if (!hosts) return;
    for (const std::string& host : *hosts) nodes_.push_back({.host = host, .ranks = {}});
    for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
        nodes_[static_cast<std::size_t>(node_of_rank[rank])].ranks.push_back(static_cast<Rank>(rank));
    }
}

void NodeLayout::rest_until_measured() const {
    char nothing = 0;
    if (probes_ == MPI_COMM_NULL) {
        receive_quietly(&nothing, 1, MPI_CHAR, 0, kMeasured, node_);
        return;
    }
    for (int peer = 1; peer < size_of(node_); ++peer) {
        send_quietly(&nothing, 1, MPI_CHAR, peer, kMeasured, node_);
    }
}

}  // namespace laple::mpi
