// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/latency_probe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

using Flag = unsigned char;

constexpr int kPing = 1;  // tag

// A pair is measured until its shortest round trip has not become kImprovement shorter for the time to
// settle, and for a number of trials unless fewer fill that time: long trips are hardly disturbed, in
// proportion.
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
        return trials_ >= kMaxTrials || (trials_since_ >= quiet_trials() && now() - since_ >= settle_);
    }

    double best() const { return best_; }

    /// How long the next trip takes at least: 0 if that is unknown.
    Seconds expected() const { return Seconds(best_ == kUnknown ? 0 : best_); }

  private:
    int quiet_trials() const {
        if (settle_ <= Seconds(0)) return 1;
        return static_cast<int>(std::clamp(std::ceil(settle_.count() / best_), 1.0, double{kQuietTrials}));
    }

    Seconds settle_;
    double best_ = kUnknown;
    double reference_ = kUnknown;  // what an improvement is measured by, lest many small ones be overlooked
    int trials_ = 0;
    int trials_since_ = 0;
    Seconds since_ = now();
};

}  // namespace

Seconds ask_latency(MPI_Comm probes, int peer, Seconds settle, const Patience& patience) {
    Shortest shortest(settle);
    for (bool is_warm = false;; is_warm = true) {
        const Flag is_last = patience.is_over() || (is_warm && shortest.is_settled()) ? 1 : 0;
        const auto start = now();
        send_quietly(&is_last, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes);
        if (is_last != 0) return Seconds(shortest.best());  // this message is not answered
        Flag answer = 0;
        receive_quietly(&answer, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes, shortest.expected());
        if (is_warm) shortest.add(now() - start);
    }
}

Seconds answer_latency(MPI_Comm probes, int peer, Seconds settle) {
    Shortest shortest(settle);
    Flag is_last = 0;
    receive_quietly(&is_last, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes);
    while (is_last == 0) {
        const auto start = now();
        send_quietly(&is_last, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes);
        receive_quietly(&is_last, 1, MPI_UNSIGNED_CHAR, peer, kPing, probes, shortest.expected());
        shortest.add(now() - start);
    }
    return Seconds(shortest.best());
}

}  // namespace laple::mpi
