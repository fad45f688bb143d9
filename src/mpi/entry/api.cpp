// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <string>

#include <mpi.h>

#include "laple/laple.h"
#include "mpi/comm/comm_state.hpp"
#include "mpi/exec/communicator.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

using laple::mpi::CommState;

LAPLE_EXPORT const char* laple_version(void) {
    return LAPLE_VERSION;
}

LAPLE_EXPORT int laple_algorithm_used(MPI_Comm comm, char* name) {
    if (name == nullptr || comm == MPI_COMM_NULL) return MPI_ERR_ARG;
    const CommState* state = CommState::find(comm);
    const std::string* used = state != nullptr ? state->last_algorithm() : nullptr;
    const std::string text = used != nullptr ? *used : "none";
    const std::size_t length = std::min<std::size_t>(text.size(), LAPLE_MAX_ALGORITHM_NAME - 1);
    std::memcpy(name, text.data(), length);
    name[length] = '\0';
    return MPI_SUCCESS;
}

LAPLE_EXPORT int laple_cluster_of_rank(MPI_Comm comm, int rank, int* cluster) {
    if (cluster == nullptr || comm == MPI_COMM_NULL) return MPI_ERR_ARG;
    if (rank < 0 || rank >= laple::mpi::size_of(comm)) return MPI_ERR_RANK;
    const CommState* state = CommState::find(comm);
    *cluster = state == nullptr ? 0 : state->machine().group_of(state->machine().cluster_of_rank(rank));
    return MPI_SUCCESS;
}
