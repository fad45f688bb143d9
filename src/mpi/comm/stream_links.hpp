// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>

#include "base/options.hpp"
#include "base/units.hpp"
#include "mpi/exec/join_streams.hpp"
#include "mpi/exec/stream_routes.hpp"
#include "streams/link.hpp"

namespace laple::mpi {

/// This process's links to others (streams::Link), for all communicators. Each is made when the first plan
/// needs it, and stays until MPI_Finalize:
///
///     lower rank of MPI_COMM_WORLD                     the other one
///        <── what each can, its address ──>            by MPI
///        listens                                       connects, several times
///        <── which connections are there ──>           by MPI (join_streams)
///
/// A pair that cannot have one goes on by MPI. Connections that break are replaced in the same way, at the
/// same address and port, without MPI. For all threads.
class StreamLinks {
  public:
    explicit StreamLinks(const Settings& settings);
    /// Waits until what was sent has come, as long as anything moves, and until the others can learn that
    /// this process leaves.
    ~StreamLinks();
    StreamLinks(const StreamLinks&) = delete;
    StreamLinks& operator=(const StreamLinks&) = delete;

    /// How a rank of a communicator is to be reached.
    struct Peer {
        Rank rank = -1;
        int connections = 0;
        Seconds round_trip{0};
        double rate = 0;  ///< bytes a second that they were seen to carry; 0: not known
    };
    /// Enters into `routes` those of `peers` of `comm` that have, or get, a link with this rank. One that was
    /// made for fewer connections stays with those who have it, and there is another one. Collective
    /// over each two ranks that are peers of each other: all of them call this in the same order.
    void join(MPI_Comm comm, std::span<const Peer> peers, StreamRoutes& routes);

    /// Those that have no connection left, for people: "the 8 connections to rank 3"; empty: none.
    std::string broken() const;
    /// What has gone by each, a line each; empty: there are none.
    std::string report() const;
    /// Of the first pair that could not be joined, what the matter was; empty: all could.
    std::string problem() const;

  private:
    struct Entry {
        Rank peer = -1;  ///< of MPI_COMM_WORLD
        int wanted = 0;  ///< connections
        std::unique_ptr<streams::Link> link;
        streams::JoinedLink how;  ///< it was joined; its lanes are the link's
        int failures = 0;         ///< of the last attempts to replace lanes
        Seconds next_repair{0};
    };
    /// What is to be joined anew of an entry, which is `link`.
    struct Repair {
        streams::Link* link = nullptr;
        streams::JoinedLink how;
    };
    /// For so many connections more. Each takes a descriptor, and so does each link.
    struct Room {
        int connections = 0;
        int descriptors = 0;
    };
    Room room() const;
    int connections() const;
    void offer(Rank peer, StreamJoin& join, Room& room);
    std::vector<streams::PortRange> ports_to_listen_at(Rank self) const;
    SilentHosts silent_hosts() const;
    bool has_watch();
    streams::Link* keep(Rank in_world, const Peer& peer, StreamJoin& join);
    streams::Link* find(Rank peer, std::uint64_t number) const;
    void run_watch();
    std::vector<Repair> repairs_due();
    bool repair();
    void note_repair(const streams::Link& link);
    bool progress_all();
    void wait_for_all(bool (streams::Link::*is_ready)() const, Seconds longest_silence);

    std::string interface_;
    streams::PortRange ports_;
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
    std::uint64_t next_number_ = 1;
    std::uint64_t next_context_ = 1;
    std::set<Rank> unreachable_;  ///< of MPI_COMM_WORLD: no connection could be made
    SilentHosts silent_;          ///< to which this process could not connect
    int strangers_ = 0;
    std::string problem_;
    std::condition_variable wakes_;
    std::atomic<bool> is_over_{false};
    std::optional<std::thread> watch_;
};

}  // namespace laple::mpi
