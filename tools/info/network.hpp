// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "plogp/tcp.hpp"

namespace laple::info {

/// The hosts of a job and the TCP connections between them.
struct NetworkState {
    std::vector<TcpHost> hosts;
    std::vector<TcpFlow> flows;
};

/// Lets each host send 1 MiB to every other one (of more than 17 to some, log2 of their number), so that
/// there are connections, and reads what the kernels say of them. On rank 0; elsewhere nothing, and nothing
/// after an MPI error. Takes up to 16 transfers one after the other. Collective over MPI_COMM_WORLD. Throws
/// Error, on rank 0, when a host tells nothing.
std::optional<NetworkState> look_at_network(int rank, int ranks);

/// The connections, the longest round trips first, at most `most_rows` of them, and what slows them down.
/// `rate`: of a NIC, bytes a second; `rate_source` says where it comes from.
std::string network_text(const NetworkState& state, double rate, const std::string& rate_source,
                         std::size_t most_rows = 12);

/// All of it, for programs.
std::string network_json(const NetworkState& state, double rate, const std::string& rate_source);

}  // namespace laple::info
