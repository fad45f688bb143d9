// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <mpi.h>

#include "mpi/comm/host_allowance.hpp"
#include "mpi/comm/stream_links.hpp"
#include "mpi/exec/host_memory.hpp"
#include "mpi/exec/operation.hpp"
#include "topology/machine.hpp"

namespace laple::mpi {

/// While this lives, errors on `comm` are returned: what LaPle fails at is not the user's error.
class ReturnErrors {
  public:
    explicit ReturnErrors(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_get_errhandler(comm_, &handler_);
        PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    ~ReturnErrors() {
        PMPI_Comm_set_errhandler(comm_, handler_);
        PMPI_Errhandler_free(&handler_);
    }
    ReturnErrors(const ReturnErrors&) = delete;
    ReturnErrors& operator=(const ReturnErrors&) = delete;

  private:
    MPI_Comm comm_;
    MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// The communicators of LaPle's own beside one of the user's, and the tags of its messages there.
class OwnComms {
  public:
    /// Beside `parent`, which must outlive this but for the last free().
    explicit OwnComms(MPI_Comm parent) : parent_(parent) {}
    ~OwnComms() { free(); }
    OwnComms(const OwnComms&) = delete;
    OwnComms& operator=(const OwnComms&) = delete;

    /// Makes the one with the ranks of the parent, at the first call. Collective; false where MPI has none
    /// left.
    bool create();
    /// Whether the parent stays as long as MPI does.
    bool is_for_world() const { return parent_ == MPI_COMM_WORLD; }
    /// A collective on it has failed: messages may be left.
    void note_failure() { has_failed_ = true; }
    /// MPI_COMM_NULL as long as it was not made.
    MPI_Comm inner() const { return ways_.comm; }
    /// Makes the one of this rank's cluster, at the first call. Collective; false where MPI has none left.
    bool join_cluster(const Machine& machine, int rank);

    /// That the ranks `on_host`, ascending, share this rank's host, and may take some of `allowance`, which
    /// must outlive this, for memory in common.
    void set_host(std::span<const Rank> on_host, HostAllowance& allowance);
    /// Makes that memory, at the first call. Collective over all ranks, of which each may end with or without
    /// it: then messages inside its host go by MPI.
    void join_host();

    /// Makes links to those of `peers` that have none yet of as many connections, and returns the ways to all
    /// that have one.
    /// Collective over all ranks; each gives its own peers, of which each gives this rank in turn.
    std::shared_ptr<const StreamRoutes> join_streams(StreamLinks& links,
                                                     std::span<const StreamLinks::Peer> peers);
    /// The same of those that have been made.
    std::shared_ptr<const StreamRoutes> routes() const { return routes_; }

    /// Whether create() and join_host() have been called, so that they do nothing any more, and messages can
    /// go. The same on all ranks, whatever hosts they have.
    bool is_ready() const { return ways_.comm != MPI_COMM_NULL && has_joined_host_; }

    /// Tags, and a number, of its own for the next blocking call.
    void change_tags();
    const Ways& ways() const { return ways_; }

    /// Tags of its own for the next call that is started and completed later, by `number`, from 0.
    Ways ways_of_started(std::uint64_t number) const;
    /// Calls whose numbers are so far apart have the same tags: the later one must not begin before the
    /// earlier one is complete on this rank. Then messages match in their order.
    std::uint64_t started_at_a_time() const { return static_cast<std::uint64_t>(tag_sets_); }
    /// The same for persistent calls, which keep their tags; nothing where none are left.
    std::optional<Ways> ways_of_persistent(std::uint64_t number) const;

    /// While MPI is still there.
    void free();

  private:
    Ways ways_of(int kind, std::uint64_t number) const;

    MPI_Comm parent_;
    bool has_tried_to_create_ = false;
    Ways ways_;
    std::vector<Rank> on_host_;
    HostAllowance* allowance_ = nullptr;  // until join_host(); of a rank alone on its host: never
    bool has_joined_host_ = false;
    std::unique_ptr<HostMemory> host_;
    HostAllowance::Share share_;
    std::shared_ptr<const StreamRoutes> routes_;  // of plans so far; later ones have another one
    std::map<Rank, int> stream_peers_;  // that join_streams() was called for, and with how many connections
    bool has_tried_to_join_ = false;
    std::atomic<bool> has_failed_{false};
    int tag_sets_ = 1;  // so many calls of each kind have tags of their own
    int tag_set_ = 0;   // of the call that is under way
};

}  // namespace laple::mpi
