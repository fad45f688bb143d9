// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/agreement.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"
#include "mpi/log.hpp"

namespace laple::mpi {
namespace {

std::string encode(const Process& process) {
    // The file may hold any bytes; those that are no UTF-8 can only stand in comments and are replaced.
    return Json{{"file", process.settings().topology},
                {"topology", *process.topology_text()},
                {"algorithm", process.settings().algorithm}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Agreement decode(const std::string& text) {
    const Json json = Json::parse(text);
    return {json.at("file").get<std::string>(), json.at("topology").get<std::string>(),
            json.at("algorithm").get<std::string>()};
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
    std::array<int, 2> votes{process.topology_text() ? size - rank : 0,
                             process.settings().has_topology() ? 1 : 0};
    if (PMPI_Allreduce(MPI_IN_PLACE, votes.data(), 2, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS)
        return std::nullopt;
    if (votes[0] == 0) {
        if (votes[1] != 0) warn(process, rank);
        return std::nullopt;
    }
    const int giver = size - votes[0];
    std::string text = rank == giver ? encode(process) : std::string{};
    int length = static_cast<int>(text.size());
    if (PMPI_Bcast(&length, 1, MPI_INT, giver, comm) != MPI_SUCCESS) return std::nullopt;
    text.resize(static_cast<std::size_t>(length));
    if (PMPI_Bcast(text.data(), length, MPI_CHAR, giver, comm) != MPI_SUCCESS) return std::nullopt;
    return decode(text);
}

}  // namespace laple::mpi
