// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/nodes.hpp"

#include <algorithm>
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
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_in(comm), MPI_INFO_NULL, &node_) != MPI_SUCCESS)
        return;
    std::vector<Rank> first_of_rank(static_cast<std::size_t>(size_of(comm)));
    Rank first = rank_in(comm);
    PMPI_Bcast(&first, 1, MPI_INT, 0, node_);
    if (PMPI_Allgather(&first, 1, MPI_INT, first_of_rank.data(), 1, MPI_INT, comm) != MPI_SUCCESS) return;

    std::vector<Rank> firsts(first_of_rank);
    std::sort(firsts.begin(), firsts.end());
    firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &all);
    PMPI_Group_incl(all, static_cast<int>(firsts.size()), firsts.data(), &group);
    is_good_ = PMPI_Comm_create(comm, group, &probes_) == MPI_SUCCESS;
    PMPI_Group_free(&group);
    PMPI_Group_free(&all);
    if (is_good_ && probes_ != MPI_COMM_NULL) gather_nodes(firsts, first_of_rank);
}

NodeLayout::~NodeLayout() {
    for (MPI_Comm* comm : {&probes_, &node_}) {
        if (*comm != MPI_COMM_NULL) PMPI_Comm_free(comm);
    }
}

void NodeLayout::gather_nodes(const std::vector<Rank>& firsts, const std::vector<Rank>& first_of_rank) {
    const auto hosts = gather_host_names(probes_, 0, rank_in(probes_), size_of(probes_));
    if (!hosts) return;
    for (const std::string& host : *hosts) nodes_.push_back({.host = host, .ranks = {}});
    for (std::size_t rank = 0; rank < first_of_rank.size(); ++rank) {
        const auto node =
            std::lower_bound(firsts.begin(), firsts.end(), first_of_rank[rank]) - firsts.begin();
        nodes_[static_cast<std::size_t>(node)].ranks.push_back(static_cast<Rank>(rank));
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
