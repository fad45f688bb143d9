// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/hosts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/hash.hpp"
#include "base/index.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr int kMeasured = 1;  // tag

using Name = std::array<char, MPI_MAX_PROCESSOR_NAME + 1>;

Name own_name() {
    Name name{};
    int length = 0;
    PMPI_Get_processor_name(name.data(), &length);
    return name;
}

/// Makes the communicator of the ranks that share memory with this one. Returns the first of them in `comm`;
/// -1 where MPI cannot say.
Rank split_by_host(MPI_Comm comm, MPI_Comm& host) {
    Rank first = rank_in(comm);
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, first, MPI_INFO_NULL, &host) != MPI_SUCCESS)
        return -1;
    PMPI_Bcast(&first, 1, MPI_INT, 0, host);
    return first;
}

}  // namespace

std::int64_t host_number() {
    return static_cast<std::int64_t>(fnv1a(own_name().data()) >> 1);
}

std::optional<std::vector<std::string>> gather_host_names(MPI_Comm comm, int root) {
    const Name mine = own_name();
    const bool is_root = rank_in(comm) == root;
    std::vector<Name> names(is_root ? at(size_of(comm)) : 0);
    const int length = static_cast<int>(mine.size());
    const int code = PMPI_Gather(mine.data(), length, MPI_CHAR, names.data(), length, MPI_CHAR, root, comm);
    if (code != MPI_SUCCESS || !is_root) return std::nullopt;
    std::vector<std::string> texts;
    for (const Name& name : names) texts.emplace_back(name.data());
    return texts;
}

std::optional<std::vector<Node>> gather_hosts(MPI_Comm comm, int root) {
    MPI_Comm host = MPI_COMM_NULL;
    const Rank first = split_by_host(comm, host);
    if (first >= 0) PMPI_Comm_free(&host);
    std::vector<Rank> firsts(rank_in(comm) == root ? at(size_of(comm)) : 0);
    if (PMPI_Gather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, root, comm) != MPI_SUCCESS)
        return std::nullopt;
    const auto names = gather_host_names(comm, root);
    if (!names) return std::nullopt;
    std::vector<Node> nodes;
    std::map<std::pair<Rank, std::string>, std::size_t> known;
    for (std::size_t i = 0; i < names->size(); ++i) {
        // What shares memory is one host, whatever its ranks call it.
        const std::string& name = (*names)[firsts[i] < 0 ? i : at(firsts[i])];
        const auto [entry, is_new] = known.try_emplace({firsts[i], name}, nodes.size());
        if (is_new) nodes.push_back({name, {}});
        nodes[entry->second].ranks.push_back(static_cast<Rank>(i));
    }
    return nodes;
}

NodeLayout::NodeLayout(MPI_Comm comm) {
    const Rank first = split_by_host(comm, node_);
    if (first < 0) return;
    std::vector<Rank> first_of_rank(at(size_of(comm)));
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
    const auto hosts = gather_host_names(probes_, 0);
    if (!hosts) return;
    for (const std::string& host : *hosts) nodes_.push_back({.host = host, .ranks = {}});
    for (std::size_t rank = 0; rank < first_of_rank.size(); ++rank) {
        const auto node =
            std::lower_bound(firsts.begin(), firsts.end(), first_of_rank[rank]) - firsts.begin();
        nodes_[static_cast<std::size_t>(node)].ranks.push_back(static_cast<Rank>(rank));
    }
}

void NodeLayout::sleep_until_measured() const {
    if (probes_ == MPI_COMM_NULL) return wait_for_signal(0, kMeasured, node_);
    for (int peer = 1; peer < size_of(node_); ++peer) send_signal(peer, kMeasured, node_);
}

}  // namespace laple::mpi
