// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace laple::mpi {

/// This process's rank.
inline int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

/// Whether threads of this process may call MPI at the same time.
inline bool may_threads_race() {
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    return level >= MPI_THREAD_MULTIPLE;
}

/// From one form of data to another, by a message of this rank to itself. Returns MPI's error code.
inline int send_to_self(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                        MPI_Datatype to_type, MPI_Comm comm) {
    constexpr int kTag = 1;
    const int self = rank_in(comm);
    return PMPI_Sendrecv(from, from_count, from_type, self, kTag, to, to_count, to_type, self, kTag, comm,
                         MPI_STATUS_IGNORE);
}

/// MPI_Pack into `bytes` bytes, and back. MPICH's own take no MPI_BOTTOM; a message of packed data to this
/// rank itself does, but is cut short where a type has gaps (MPI_DOUBLE_INT).
inline int pack(const void* from, int count, MPI_Datatype type, void* to, int bytes, MPI_Comm comm) {
    if (from == MPI_BOTTOM) return send_to_self(from, count, type, to, bytes, MPI_PACKED, comm);
    int position = 0;
    return PMPI_Pack(from, count, type, to, bytes, &position, comm);
}

inline int unpack(const void* from, int bytes, void* to, int count, MPI_Datatype type, MPI_Comm comm) {
    if (to == MPI_BOTTOM) return send_to_self(from, bytes, MPI_PACKED, to, count, type, comm);
    int position = 0;
    return PMPI_Unpack(from, bytes, &position, to, count, type, comm);
}

}  // namespace laple::mpi
