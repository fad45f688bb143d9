// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"

namespace laple::mpi {

/// A program's point-to-point calls in this process: how often, how long, and what went to whom. Messages are
/// counted where they are sent; time counts for the rank that was waited for. Ranks are those of
/// MPI_COMM_WORLD. liblaple_profile fills it; in other libraries it stays empty. Thread safe.
class Messages {
  public:
    /// Of another world, or not known: from anywhere, or what a request stands for is no message.
    static constexpr Rank kElsewhere = -1;
    /// MPI_PROC_NULL: no message.
    static constexpr Rank kNobody = -2;

    /// Calls of one function. Those that receive or wait have no messages.
    struct Line {
        std::uint64_t calls = 0;
        std::uint64_t messages = 0;
        Bytes bytes = 0;
        Seconds total{0};
        Seconds longest{0};
    };
    /// With one rank.
    struct Traffic {
        std::uint64_t messages = 0;
        Bytes bytes = 0;
        Seconds time{0};
    };
    struct Message {
        Rank to = kElsewhere;
        Bytes bytes = 0;
    };
    /// MPI's handle, as a number.
    using Request = std::uint64_t;
    /// What a request stands for.
    struct Pending {
        Rank peer = kElsewhere;
        bool is_sent = false;
        bool is_persistent = false;
        Message message{};  ///< where it is sent; of an exchange the peer is the farther one
        /// MPI has given its handle to several messages that were sent at once (MPICH does): waiting for one
        /// takes no time.
        bool is_shared = false;
    };
    /// Requests beyond are not known. They are some MB.
    static constexpr std::size_t kMostRequests = 1U << 16U;

    /// That of this process.
    static Messages& get();

    /// Whether this library sees point-to-point calls, to count them.
    bool are_counted() const { return are_counted_.load(std::memory_order_relaxed); }
    void count() { are_counted_ = true; }

    /// Where ranks are, as far as it decides which of several peers was waited for: by rank, any number that
    /// is equal for ranks of one cluster, and of one host.
    struct Places {
        Rank own = 0;
        std::vector<int> cluster_of;
        std::vector<int> host_of;
    };
    void learn(Places places);

    /// To be called once for each function, under MPI's name without "MPI_", which must outlive this. The
    /// line stays where it is, and is for the calls below.
    Line& line(std::string_view function);

    // A call has ended, which took `time`.
    void received(Line& line, Seconds time, Rank from);
    void sent(Line& line, Seconds time, const Message& message);
    void exchanged(Line& line, Seconds time, const Message& message, Rank from);
    /// It has made `request`, and sends already unless that is persistent.
    void opened(Line& line, Seconds time, Request request, Pending pending);
    /// Persistent requests have been started.
    void started(Line& line, Seconds time, std::span<const Request> requests);
    /// It has waited for all of `requests`. Counts for the farthest rank that sends; else that receives.
    void waited_for_all(Line& line, Seconds time, std::span<const Request> requests);
    /// It has waited for some of `requests`, or looked at them; `completed` are positions in these. Counts
    /// as these would alone; where none is complete, for the rank of the first request.
    void waited(Line& line, Seconds time, std::span<const Request> requests, std::span<const int> completed);
    /// The program has given a request up.
    void forget(Request request);

    Rank farther(Rank one, Rank other) const;

    std::map<std::string_view, Line> lines() const;
    /// By rank, up to the last one of which there is something.
    std::vector<Traffic> traffic() const;
    Traffic elsewhere() const;

  private:
    // All under mutex_.
    static void add(Line& line, Seconds time);
    void add(Line& line, const Message& message);
    Traffic& with(Rank peer);
    int distance(Rank peer) const;
    Rank farther_of(Rank one, Rank other) const;
    Rank peer_of(Request request) const;
    Rank complete(Request request);

    std::atomic<bool> are_counted_{false};
    mutable std::mutex mutex_;
    std::map<std::string_view, Line> lines_;
    std::vector<Traffic> traffic_;  // by rank
    Traffic elsewhere_;
    std::unordered_map<Request, Pending> requests_;
    Places places_;
};

}  // namespace laple::mpi
