// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/prober.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "mpi/probe/waiting.hpp"
#include "topology/probe_rounds.hpp"

namespace laple::mpi {
namespace {

using Flag = unsigned char;

enum Tag { kPing = 1, kRow, kPlan };

// A pair is measured until its shortest round trip has not become kImprovement shorter for a number of trials
// and for the time to settle.
constexpr double kImprovement = 0.02;
constexpr int kQuietTrials = 5;
constexpr int kMaxTrials = 2000;

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// The shortest of a series of round trips, and whether more are worth their time.
class Shortest {
  public:
    explicit Shortest(Seconds settle) : settle_(settle) {}

    void add(Seconds trip) {
        ++trials_;
        ++trials_since_;
        if (trip.count() < (1 - kImprovement) * reference_) {
            reference_ = trip.count();
            trials_since_ = 0;
            since_ = now();
        }
        best_ = std::min(best_, trip.count());
    }

    bool is_settled() const {
        return trials_ >= kMaxTrials ||
               (trials_since_ >= (settle_ > Seconds(0) ? kQuietTrials : 1) && now() - since_ >= settle_);
    }

    double best() const { return best_; }

    /// How long the next trip takes at least: 0 if that is unknown.
    Seconds expected() const { return Seconds(best_ == kUnknown ? 0 : best_); }

  private:
    Seconds settle_;
    double best_ = kUnknown;
    double reference_ = kUnknown;  // what an improvement is measured by, lest many small ones be overlooked
    int trials_ = 0;
    int trials_since_ = 0;
    Seconds since_ = now();
};

/// Ping-pong with `peer`, who calls answer(). The first trip, which waits for the peer and for connections to
/// be made, does not count. The last message says so, and is not answered. Returns the shortest round trip in
/// seconds.
double ask(MPI_Comm probes, int peer, Seconds settle) {
    Shortest shortest(settle);
    for (bool is_warm = false;; is_warm = true) {
        const Flag is_last = is_warm && shortest.is_settled() ? 1 : 0;
        const auto start = now();
        send_quietly(&is_last, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes);
        if (is_last != 0) return shortest.best();
        Flag answer = 0;
        receive_quietly(&answer, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes, shortest.expected());
        if (is_warm) shortest.add(now() - start);
    }
}

/// The other half of ask(). From its answer to the next message takes one round trip as well, so it has as
/// many chances to see an undisturbed one.
double answer(MPI_Comm probes, int peer, Seconds settle) {
    Shortest shortest(settle);
    Flag is_last = 0;
    receive_quietly(&is_last, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes);
    while (is_last == 0) {
        const auto start = now();
        send_quietly(&is_last, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes);
        receive_quietly(&is_last, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes, shortest.expected());
        shortest.add(now() - start);
    }
    return shortest.best();
}

/// The part of one node in a series of rounds: whom it meets, in order. The rounds need no barrier between
/// them: who meets whom in which order is the same on both sides, so nobody waits for ever.
using Peers = std::vector<int>;

class Prober {
  public:
    Prober(MPI_Comm probes, Seconds settle) : probes_(probes), settle_(settle) {
        PMPI_Comm_size(probes_, &nodes_);
        PMPI_Comm_rank(probes_, &rank_);
    }

    /// On rank 0: measures until `survey` has no more to ask.
    void lead(Survey& survey, const Progress& progress) {
        while (true) {
            const std::vector<ProbeRound> rounds = survey.next();
            std::vector<Peers> peers(static_cast<std::size_t>(nodes_));
            for (const ProbeRound& round : rounds) {
                for (const NodePair& pair : round) {
                    peers[static_cast<std::size_t>(pair.a)].push_back(pair.b);
                    peers[static_cast<std::size_t>(pair.b)].push_back(pair.a);
                }
            }
            for (int node = 1; node < nodes_; ++node) {
                const Peers& of_node = peers[static_cast<std::size_t>(node)];
                const int count = rounds.empty() ? kOver : static_cast<int>(of_node.size());
                send_quietly(&count, 1, MPI_INT, node, kPlan, probes_);
                if (count > 0) send_quietly(of_node.data(), count, MPI_INT, node, kPlan, probes_);
            }
            if (rounds.empty()) return;
            collect(peers, measure(peers.front(), progress), survey);
        }
    }

    /// On the others: measures what rank 0 asks for.
    void follow() {
        while (true) {
            int count = 0;
            receive_quietly(&count, 1, MPI_INT, 0, kPlan, probes_);
            if (count == kOver) return;
            if (count == 0) continue;
            Peers peers(static_cast<std::size_t>(count));
            receive_quietly(peers.data(), count, MPI_INT, 0, kPlan, probes_);
            const std::vector<double> trips = measure(peers, {});
            send_quietly(trips.data(), count, MPI_DOUBLE, 0, kRow, probes_);
        }
    }

  private:
    static constexpr int kOver = -1;

    /// The shortest round trip to each of `peers`, in seconds.
    std::vector<double> measure(const Peers& peers, const Progress& progress) {
        std::vector<double> trips;
        for (const int peer : peers) {
            trips.push_back(rank_ < peer ? ask(probes_, peer, settle_) : answer(probes_, peer, settle_));
            if (progress) progress(static_cast<int>(trips.size()), static_cast<int>(peers.size()));
        }
        return trips;
    }

    /// Both of a pair have measured it; the survey takes the shorter one.
    void collect(const std::vector<Peers>& peers, std::vector<double> trips, Survey& survey) {
        for (int node = 0; node < nodes_; ++node) {
            const Peers& of_node = peers[static_cast<std::size_t>(node)];
            if (of_node.empty()) continue;
            if (node > 0) {
                trips.assign(of_node.size(), 0);
                receive_quietly(trips.data(), static_cast<int>(trips.size()), MPI_DOUBLE, node, kRow,
                                probes_);
            }
            for (std::size_t i = 0; i < of_node.size(); ++i)
                survey.add({{node, of_node[i]}, Seconds(trips[i] / 2)});
        }
    }

    MPI_Comm probes_;
    Seconds settle_;
    int nodes_ = 0;
    int rank_ = 0;
};

}  // namespace

void measure_latencies(MPI_Comm probes, Seconds settle, Survey* survey, const Progress& progress) {
    Prober prober(probes, settle);
    if (survey != nullptr) return prober.lead(*survey, progress);
    prober.follow();
}

}  // namespace laple::mpi
