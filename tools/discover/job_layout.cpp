// SPDX-License-Identifier: BSD-3-Clause
#include "job_layout.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "waiting.hpp"

namespace laple::discover {
namespace {

constexpr int kMeasured = 1;  // tag

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

}  // namespace

JobLayout::JobLayout() {
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_in(world_), MPI_INFO_NULL, &node_);
    MPI_Comm_split(world_, rank_in(node_) == 0 ? 0 : MPI_UNDEFINED, rank_in(world_), &probes_);
    gather_nodes();
}

JobLayout::~JobLayout() {
    if (probes_ != MPI_COMM_NULL) MPI_Comm_free(&probes_);
    MPI_Comm_free(&node_);
    MPI_Comm_free(&world_);
}

void JobLayout::gather_nodes() {
    int node_index = probes_ == MPI_COMM_NULL ? 0 : rank_in(probes_);
    MPI_Bcast(&node_index, 1, MPI_INT, 0, node_);

    const bool is_first = rank_in(world_) == 0;
    std::vector<int> node_of_rank(is_first ? static_cast<std::size_t>(size_of(world_)) : 0);
    MPI_Gather(&node_index, 1, MPI_INT, node_of_rank.data(), 1, MPI_INT, 0, world_);
    if (probes_ == MPI_COMM_NULL) return;

    using Name = std::array<char, MPI_MAX_PROCESSOR_NAME + 1>;
    Name host{};
    int length = 0;
    MPI_Get_processor_name(host.data(), &length);
    std::vector<Name> hosts(is_first ? static_cast<std::size_t>(size_of(probes_)) : 0);
    MPI_Gather(host.data(), static_cast<int>(host.size()), MPI_CHAR, hosts.data(),
               static_cast<int>(host.size()), MPI_CHAR, 0, probes_);
    for (const Name& name : hosts) nodes_.push_back({.host = name.data(), .ranks = {}});
    for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
        nodes_[static_cast<std::size_t>(node_of_rank[rank])].ranks.push_back(static_cast<Rank>(rank));
    }
}

void JobLayout::rest_until_measured() const {
    char nothing = 0;
    if (probes_ == MPI_COMM_NULL) {
        receive_quietly(&nothing, 1, MPI_CHAR, 0, kMeasured, node_);
        return;
    }
    for (int peer = 1; peer < size_of(node_); ++peer) {
        send_quietly(&nothing, 1, MPI_CHAR, peer, kMeasured, node_);
    }
}

std::vector<std::vector<Rank>> ranks_of(const Clusters& clusters, const std::vector<Node>& nodes) {
    std::vector<std::vector<Rank>> rank_clusters;
    for (const auto& cluster : clusters) {
        std::vector<Rank> ranks;
        for (const int node : cluster) {
            const auto& more = nodes[static_cast<std::size_t>(node)].ranks;
            ranks.insert(ranks.end(), more.begin(), more.end());
        }
        std::sort(ranks.begin(), ranks.end());
        rank_clusters.push_back(std::move(ranks));
    }
    std::sort(rank_clusters.begin(), rank_clusters.end());
    return rank_clusters;
}

}  // namespace laple::discover
