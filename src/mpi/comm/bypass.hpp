// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include <mpi.h>

/// The shortest way to MPI's own call. On most communicators of most jobs LaPle has nothing to do, and there
/// its cost must not be measurable, even when ranks share cores and their caches are cold at each call: one
/// load, one comparison, one jump.
///
/// A communicator is bypassed when every collective on it is MPI's own and nobody counts the calls. Only the
/// one found last is remembered. Its handle is forgotten before MPI can give it to another communicator: by
/// the delete callback of LaPle's attribute. With MPI_THREAD_MULTIPLE the worst race costs the long way: a
/// thread may not free a communicator while another calls a collective on it.
namespace laple::mpi {

struct alignas(64) Bypass {
    std::atomic<MPI_Comm> comm{MPI_COMM_NULL};
    // Beside it, so that a line of the cache or two hold all that the way needs.
#define LAPLE_COLLECTIVE(id, name, ...) decltype(&PMPI_##name) name = PMPI_##name;
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS LAPLE_COLLECTIVE
#include "mpi/exec/collectives.def"
};
inline Bypass bypass;

/// Whether a call on `comm` can go straight to MPI. True of MPI_COMM_NULL at first: MPI says what is wrong.
inline bool is_bypassed(MPI_Comm comm) {
    return comm == bypass.comm.load(std::memory_order_relaxed);
}

/// Called by each rank, in a call, once it is known that LaPle has nothing to do on `comm`.
inline void remember_bypass(MPI_Comm comm) {
    bypass.comm.store(comm, std::memory_order_relaxed);
}

/// To be called before MPI can reuse the handle `comm`.
inline void forget_bypass(MPI_Comm comm) {
    MPI_Comm expected = comm;
    bypass.comm.compare_exchange_strong(expected, MPI_COMM_NULL, std::memory_order_relaxed);
}

/// While one lives, MPI_Comm_free or MPI_Comm_disconnect of `comm` is under way on this thread. Delete
/// callbacks of the user's attributes may then still call collectives on it; those are all MPI's own, and
/// nothing about the communicator is looked up or remembered any more. (Where a request was pending, MPI runs
/// callbacks later: docs/limits.md.)
class DyingComm {
  public:
    explicit DyingComm(MPI_Comm comm) : comm_(comm), outer_(innermost) {
        innermost = this;
        forget_bypass(comm);
    }
    ~DyingComm() { innermost = outer_; }
    DyingComm(const DyingComm&) = delete;
    DyingComm& operator=(const DyingComm&) = delete;

    static bool is_dying(MPI_Comm comm) {
        for (const DyingComm* dying = innermost; dying != nullptr; dying = dying->outer_) {
            if (dying->comm_ == comm) return true;
        }
        return false;
    }

  private:
    static inline thread_local const DyingComm* innermost = nullptr;
    MPI_Comm comm_;
    const DyingComm* outer_;
};

}  // namespace laple::mpi
