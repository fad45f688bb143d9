// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/connect.hpp"

#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr int kHello = 8;  // tag

}  // namespace

void connect(MPI_Comm probes, const std::vector<int>& peers) {
    std::vector<MPI_Request> requests;
    for (const int peer : peers) {
        PMPI_Irecv(nullptr, 0, MPI_BYTE, peer, kHello, probes, &requests.emplace_back());
        PMPI_Isend(nullptr, 0, MPI_BYTE, peer, kHello, probes, &requests.emplace_back());
    }
    for (MPI_Request& request : requests) wait_quietly(request);
}

}  // namespace laple::mpi
