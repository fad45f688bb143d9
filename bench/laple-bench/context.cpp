// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/context.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>
#include <unistd.h>

#include "base/configuration.hpp"
#include "mpi/probe/hosts.hpp"
#include "mpi/probe/provenance.hpp"

namespace laple::bench {
namespace {

/// On rank 0: every host once, and which of them each rank is on.
void gather_hosts(MPI_Comm comm, Context& context) {
    const auto nodes = mpi::gather_hosts(comm, 0);
    if (!nodes) return;
    context.host_of_rank.resize(static_cast<std::size_t>(context.ranks));
    for (std::size_t host = 0; host < nodes->size(); ++host) {
        context.hosts.push_back((*nodes)[host].host);
        for (const Rank rank : (*nodes)[host].ranks)
            context.host_of_rank[static_cast<std::size_t>(rank)] = static_cast<int>(host);
    }
}

std::string mpi_library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    PMPI_Get_library_version(text.data(), &length);
    std::string line = text.data();
    line.resize(std::min(line.size(), line.find('\n')));
    std::replace(line.begin(), line.end(), '\t', ' ');
    return line;
}

std::string utc_now() {
    const time_t now = time(nullptr);
    tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

/// What in rank 0's environment and configuration files can change the figures.
std::map<std::string, std::string> relevant_environment() {
    auto variables = mpi::mpi_environment();
    for (const auto& [name, given] : configuration().given) {
        if (given.source != "environment")
            variables.insert_or_assign(name, fmt::format("{} ({})", given.value, given.source));
    }
    return variables;
}

}  // namespace

Context describe_run(const Options& options, const std::vector<std::string>& command, MPI_Comm comm) {
    Context context;
    PMPI_Comm_size(comm, &context.ranks);
    gather_hosts(comm, context);
    context.mpi_library = mpi_library();
    context.date = utc_now();
    context.command = fmt::format("{}", fmt::join(command, " "));
    context.root = options.root;
    context.iterations = options.iterations;
    context.cold_s = options.cold.count();
    context.budget_s = options.budget.count();
    context.environment = relevant_environment();
    return context;
}

}  // namespace laple::bench
