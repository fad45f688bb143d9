// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/latency_probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "mpi/exec/communicator.hpp"

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

constexpr int kPingAll = 7;    // tag
constexpr int kTripsEach = 5;  // the first one makes the connection
// The two shortest trips of a far pair differ by less: what disturbs messages does not do so twice alike.
constexpr double kAgreement = 1.1;

/// With one peer: who asks sends pings until the last, which is not answered.
struct Exchange {
    int peer = 0;
    bool asks = false;
    Flag out = 0;  // to say that this is the last one
    Flag in = 0;
    MPI_Request sending = MPI_REQUEST_NULL;
    Seconds sent{0};
    int trips = 0;
    double shortest = kUnknown;
    double second = kUnknown;
};

class PingPongs {
  public:
    PingPongs(MPI_Comm probes, const std::vector<int>& peers, const Patience& patience)
        : probes_(probes), patience_(patience) {
        for (const int peer : peers) exchanges_.push_back({.peer = peer, .asks = rank_in(probes) < peer});
    }

    std::vector<Seconds> run() {
        for (std::size_t i = 0; i < exchanges_.size(); ++i) receive(i);
        for (Exchange& exchange : exchanges_) {
            if (exchange.asks) send(exchange);
        }
        while (!receives_.empty()) {
            const std::size_t done = wait_for_any_quietly(receives_);
            const std::size_t i = owners_[done];
            receives_.erase(receives_.begin() + static_cast<std::ptrdiff_t>(done));
            owners_.erase(owners_.begin() + static_cast<std::ptrdiff_t>(done));
            if (exchanges_[i].asks ? has_answer(exchanges_[i]) : has_ping(exchanges_[i])) receive(i);
        }
        std::vector<Seconds> latencies;
        for (Exchange& exchange : exchanges_) {
            wait_quietly(exchange.sending);
            latencies.emplace_back(is_sure(exchange) ? exchange.shortest / 2 : kUnknown);
        }
        return latencies;
    }

  private:
    void receive(std::size_t i) {
        Exchange& exchange = exchanges_[i];
        PMPI_Irecv(&exchange.in, 1, MPI_UNSIGNED_CHAR, exchange.peer, kPingAll, probes_,
                   &receives_.emplace_back());
        owners_.push_back(i);
    }

    /// The message before this one has been answered, so its request is as good as done.
    void send(Exchange& exchange) {
        wait_quietly(exchange.sending);
        exchange.sent = now();
        PMPI_Isend(&exchange.out, 1, MPI_UNSIGNED_CHAR, exchange.peer, kPingAll, probes_, &exchange.sending);
    }

    static bool is_sure(const Exchange& exchange) {
        return exchange.shortest < kUnknown && exchange.second <= kAgreement * exchange.shortest;
    }
    static void add(Exchange& exchange, double trip) {
        exchange.second = std::min(exchange.second, std::max(exchange.shortest, trip));
        exchange.shortest = std::min(exchange.shortest, trip);
    }

    /// Whether another answer is to come.
    bool has_answer(Exchange& exchange) {
        if (++exchange.trips > 1) add(exchange, (now() - exchange.sent).count());
        const bool is_known = is_sure(exchange) && Seconds(exchange.shortest / 2) >= kFar;
        exchange.out = is_known || exchange.trips == kTripsEach || patience_.is_over() ? 1 : 0;
        send(exchange);
        return exchange.out == 0;
    }

    /// Whether another ping is to come.
    bool has_ping(Exchange& exchange) {
        if (exchange.in == 0) send(exchange);
        return exchange.in == 0;
    }

    MPI_Comm probes_;
    const Patience& patience_;
    std::vector<Exchange> exchanges_;
    std::vector<MPI_Request> receives_;
    std::vector<std::size_t> owners_;  // the exchange of each of them
};

}  // namespace

Seconds measure_latency(MPI_Comm probes, int peer, Seconds settle, const Patience& patience) {
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

std::vector<Seconds> ping_all(MPI_Comm probes, const std::vector<int>& peers, const Patience& patience) {
    return PingPongs(probes, peers, patience).run();
}

}  // namespace laple::mpi
