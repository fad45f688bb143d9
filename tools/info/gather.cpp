// SPDX-License-Identifier: BSD-3-Clause
#include "gather.hpp"

#include <numeric>

#include <mpi.h>

namespace laple::info {

std::vector<int> first_ranks(const std::optional<std::vector<Node>>& hosts) {
    std::vector<int> firsts;
    if (hosts) {
        for (const Node& host : *hosts) firsts.push_back(host.ranks.front());
    }
    int count = static_cast<int>(firsts.size());
    PMPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    firsts.resize(static_cast<std::size_t>(count));
    PMPI_Bcast(firsts.data(), count, MPI_INT, 0, MPI_COMM_WORLD);
    return firsts;
}

std::vector<std::string> gather_texts(const std::string& text, int rank, int ranks) {
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
    PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::vector<int> places(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    std::string all(lengths.empty() ? 0 : static_cast<std::size_t>(places.back() + lengths.back()), '\0');
    PMPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR, 0,
                 MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < lengths.size(); ++i)
        texts.push_back(
            all.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
    return texts;
}

}  // namespace laple::info
