// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <limits>

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

inline bool is_between_groups(MPI_Comm comm) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    return is_inter != 0;
}

/// A communicator of the same ranks for LaPle's own messages, which returns errors; MPI_COMM_NULL where MPI
/// has none left. To be freed. Collective. Not MPI_Comm_dup: it would run the copy callbacks of the user's
/// attributes. Not MPI_Comm_split: it takes a collective more. Nor MPI_Comm_create: MPICH agrees on a context
/// id by a reduce-scatter and an allgather, which take twice the messages one after another.
inline MPI_Comm own_copy_of(MPI_Comm comm) {
    constexpr int kTag = 19553;  // any that another thread's call of the program is not likely to have
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    const int code = PMPI_Comm_create_group(comm, group, kTag, &own);
    PMPI_Group_free(&group);
    if (code != MPI_SUCCESS) return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    return own;
}

/// Whether threads of this process may call MPI at the same time.
inline bool may_threads_race() {
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    return level >= MPI_THREAD_MULTIPLE;
}

/// Tags below this one are those of messages that a rank sends to itself.
inline constexpr int kFirstTag = 256;

/// This thread's tag for them. LaPle's own thread has one that no other has: it may be at work on a
/// communicator beside one thread of the program, but not beside two.
inline int& tag_to_self() {
    static std::atomic<unsigned> threads{0};
    thread_local int tag =
        static_cast<int>(threads.fetch_add(1, std::memory_order_relaxed) % (kFirstTag - 1));
    return tag;
}
inline constexpr int kTagOfOwnThread = kFirstTag - 1;

/// From one form of data to another, by a message of this rank to itself. Returns MPI's error code.
inline int send_to_self(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                        MPI_Datatype to_type, MPI_Comm comm) {
    // Of two threads' messages at a time each must find its own receive.
    const int tag = tag_to_self();
    const int self = rank_in(comm);
    return PMPI_Sendrecv(from, from_count, from_type, self, tag, to, to_count, to_type, self, tag, comm,
                         MPI_STATUS_IGNORE);
}

/// MPI_Pack into `bytes` bytes, and back. MPICH's own take no MPI_BOTTOM; a message of packed data to this
/// rank itself does, but is cut short where a type has gaps (MPI_DOUBLE_INT). A single element may be longer
/// than an int tells; where MPI has no calls for it, or at MPI_BOTTOM, that is MPI_ERR_COUNT.
inline int pack(const void* from, int count, MPI_Datatype type, void* to, MPI_Count bytes, MPI_Comm comm) {
    const bool is_long = bytes > std::numeric_limits<int>::max();
    if (!is_long && from == MPI_BOTTOM)
        return send_to_self(from, count, type, to, static_cast<int>(bytes), MPI_PACKED, comm);
    if (!is_long) {
        int position = 0;
        return PMPI_Pack(from, count, type, to, static_cast<int>(bytes), &position, comm);
    }
#if MPI_VERSION >= 4
    MPI_Count position = 0;
    if (from != MPI_BOTTOM) return PMPI_Pack_c(from, count, type, to, bytes, &position, comm);
#endif
    return MPI_ERR_COUNT;
}

inline int unpack(const void* from, MPI_Count bytes, void* to, int count, MPI_Datatype type, MPI_Comm comm) {
    const bool is_long = bytes > std::numeric_limits<int>::max();
    if (!is_long && to == MPI_BOTTOM)
        return send_to_self(from, static_cast<int>(bytes), MPI_PACKED, to, count, type, comm);
    if (!is_long) {
        int position = 0;
        return PMPI_Unpack(from, static_cast<int>(bytes), &position, to, count, type, comm);
    }
#if MPI_VERSION >= 4
    MPI_Count position = 0;
    if (to != MPI_BOTTOM) return PMPI_Unpack_c(from, bytes, &position, to, count, type, comm);
#endif
    return MPI_ERR_COUNT;
}

}  // namespace laple::mpi
