// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/hosts.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "base/hash.hpp"

namespace laple::mpi {
namespace {

using Name = std::array<char, MPI_MAX_PROCESSOR_NAME + 1>;

Name own_name() {
    Name name{};
    int length = 0;
    PMPI_Get_processor_name(name.data(), &length);
    return name;
}

}  // namespace

std::int64_t host_number() {
    return static_cast<std::int64_t>(fnv1a(own_name().data()) >> 1);
}

std::optional<std::vector<std::string>> gather_host_names(MPI_Comm comm, int root, int rank, int size) {
    const Name mine = own_name();
    std::vector<Name> names(rank == root ? static_cast<std::size_t>(size) : 0);
    const int length = static_cast<int>(mine.size());
    if (PMPI_Gather(mine.data(), length, MPI_CHAR, names.data(), length, MPI_CHAR, root, comm) !=
            MPI_SUCCESS ||
        rank != root)
        return std::nullopt;
    std::vector<std::string> texts;
    for (const Name& name : names) texts.emplace_back(name.data());
    return texts;
}

namespace {

/// The first rank of those that share memory with this one; -1 where MPI cannot say.
int first_of_host(MPI_Comm comm, int rank) {
    MPI_Comm host = MPI_COMM_NULL;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host) != MPI_SUCCESS)
        return -1;
    int first = rank;
    PMPI_Bcast(&first, 1, MPI_INT, 0, host);
    PMPI_Comm_free(&host);
    return first;
}

}  // namespace

std::optional<std::vector<Node>> gather_hosts(MPI_Comm comm, int root, int rank, int size) {
    const int first = first_of_host(comm, rank);
    std::vector<int> firsts(rank == root ? static_cast<std::size_t>(size) : 0);
    if (PMPI_Gather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, root, comm) != MPI_SUCCESS)
        return std::nullopt;
    const auto names = gather_host_names(comm, root, rank, size);
    if (!names) return std::nullopt;
    std::vector<Node> nodes;
    std::map<std::pair<int, std::string>, std::size_t> known;
    for (std::size_t i = 0; i < names->size(); ++i) {
        // What shares memory is one host, whatever its ranks call it.
        const std::string& name = firsts[i] < 0 ? (*names)[i] : (*names)[static_cast<std::size_t>(firsts[i])];
        const auto [entry, is_new] = known.try_emplace({firsts[i], name}, nodes.size());
        if (is_new) nodes.push_back({name, {}});
        nodes[entry->second].ranks.push_back(static_cast<Rank>(i));
    }
    return nodes;
}

}  // namespace laple::mpi
