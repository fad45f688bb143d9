// SPDX-License-Identifier: BSD-3-Clause
#include "prober.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

#include "topology/probe_rounds.hpp"
#include "waiting.hpp"

namespace laple::discover {
namespace {

using Flag = unsigned char;

enum Tag { kPing = 1, kRow, kPlan };

// A pair is measured until its shortest round trip has not become kImprovement shorter for a number of trials
// and for the time to settle.
constexpr double kImprovement = 0.02;
constexpr int kQuietTrials = 5;
constexpr int kMaxTrials = 2000;

constexpr int kMaxLooks = 6;  // the first one, and those at doubtful pairs
constexpr Seconds kLong = std::chrono::milliseconds(1);

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

/// Which pairs to measure; symmetric.
class Plan {
  public:
    Plan(int nodes, bool all)
        : nodes_(nodes), wanted_(static_cast<std::size_t>(nodes * nodes), all ? 1 : 0) {}

    bool wants(int a, int b) const { return wanted_[index(a, b)] != 0; }
    void add(NodePair pair) { wanted_[index(pair.a, pair.b)] = wanted_[index(pair.b, pair.a)] = 1; }
    bool is_empty() const { return std::find(wanted_.begin(), wanted_.end(), 1) == wanted_.end(); }

    /// Gives all ranks the plan of rank 0.
    void share(MPI_Comm probes, int rank) {
        const int size = static_cast<int>(wanted_.size());
        if (rank != 0) return receive_quietly(wanted_.data(), size, MPI_UNSIGNED_CHAR, 0, kPlan, probes);
        for (int peer = 1; peer < nodes_; ++peer) {
            send_quietly(wanted_.data(), size, MPI_UNSIGNED_CHAR, peer, kPlan, probes);
        }
    }

  private:
    std::size_t index(int a, int b) const { return static_cast<std::size_t>(a * nodes_ + b); }

    int nodes_;
    std::vector<unsigned char> wanted_;
};

class Prober {
  public:
    Prober(MPI_Comm probes, const Effort& effort) : probes_(probes), effort_(effort) {
        MPI_Comm_size(probes_, &nodes_);
        MPI_Comm_rank(probes_, &rank_);
        row_.assign(static_cast<std::size_t>(nodes_), kUnknown);
    }

    LatencyMatrix run(const Progress& progress) {
        LatencyMatrix matrix(0);
        Plan plan(nodes_, true);
        for (int look = 0; look < kMaxLooks; ++look) {
            if (look > 0) plan.share(probes_, rank_);
            if (look > 0 && plan.is_empty()) break;
            measure(plan, look == 0 && rank_ == 0 ? progress : Progress());
            const LatencyMatrix before = matrix;
            matrix = gather();
            plan = doubts(matrix, before, plan);
        }
        return matrix;
    }

  private:
    void measure(const Plan& plan, const Progress& progress) {
        const int rounds = probe_round_count(nodes_);
        for (int round = 0; round < rounds; ++round) {
            const int peer = partner(rank_, round, nodes_);
            if (peer >= 0 && peer != rank_ && plan.wants(rank_, peer)) {
                double& shortest = row_[static_cast<std::size_t>(peer)];
                shortest = std::min(shortest, rank_ < peer ? ask(probes_, peer, effort_.settle)
                                                           : answer(probes_, peer, effort_.settle));
            }
            if (progress) progress(round + 1, rounds);
        }
    }

    /// Both of a pair have measured it; the shorter one holds.
    LatencyMatrix gather() const {
        if (rank_ != 0) {
            send_quietly(row_.data(), nodes_, MPI_DOUBLE, 0, kRow, probes_);
            return LatencyMatrix(0);
        }
        std::vector<std::vector<double>> rows(static_cast<std::size_t>(nodes_), row_);
        for (int peer = 1; peer < nodes_; ++peer) {
            receive_quietly(rows[static_cast<std::size_t>(peer)].data(), nodes_, MPI_DOUBLE, peer, kRow,
                            probes_);
        }
        LatencyMatrix matrix(nodes_);
        for (std::size_t a = 0; a < rows.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                matrix.set(static_cast<int>(a), static_cast<int>(b),
                           Seconds(std::min(rows[a][b], rows[b][a]) / 2));
            }
        }
        return matrix;
    }

    /// The pairs of the next look. A long one that this look has not made shorter is odd, but not disturbed;
    /// the short ones, of which noise is a greater part, cost no time.
    Plan doubts(const LatencyMatrix& matrix, const LatencyMatrix& before, const Plan& looked_at) const {
        Plan plan(nodes_, false);
        if (rank_ != 0) return plan;
        for (const NodePair& pair : doubtful_pairs(matrix, cluster_nodes(matrix, effort_.clustering))) {
            const bool is_stable = matrix.at(pair.a, pair.b) > kLong && before.nodes() > 0 &&
                                   looked_at.wants(pair.a, pair.b) &&
                                   matrix.at(pair.a, pair.b) > (1 - kImprovement) * before.at(pair.a, pair.b);
            if (!is_stable) plan.add(pair);
        }
        return plan;
    }

    MPI_Comm probes_;
    Effort effort_;
    int nodes_ = 0;
    int rank_ = 0;
    std::vector<double> row_;  // shortest round trips to the others, in seconds
};

}  // namespace

LatencyMatrix measure_latencies(MPI_Comm probes, const Effort& effort, const Progress& progress) {
    return Prober(probes, effort).run(progress);
}

}  // namespace laple::discover
