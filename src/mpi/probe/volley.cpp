// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/probe/volley.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

using Flag = unsigned char;

constexpr int kVolley = 7;  // tag
constexpr int kTrips = 5;   // the first one makes the connection
// The two shortest trips of a far pair differ by less: what disturbs messages does not do so twice alike.
constexpr double kAgreement = 1.1;
constexpr double kUnknown = std::numeric_limits<double>::infinity();

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

class Volley {
  public:
    Volley(MPI_Comm probes, const std::vector<int>& peers, const Patience& patience)
        : probes_(probes), patience_(patience) {
        int rank = 0;
        PMPI_Comm_rank(probes, &rank);
        for (const int peer : peers) exchanges_.emplace_back().peer = peer;
        for (Exchange& exchange : exchanges_) exchange.asks = rank < exchange.peer;
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
            const bool is_sure = exchange.second <= kAgreement * exchange.shortest;
            latencies.emplace_back(is_sure ? exchange.shortest / 2 : kUnknown);
        }
        return latencies;
    }

  private:
    void receive(std::size_t i) {
        Exchange& exchange = exchanges_[i];
        PMPI_Irecv(&exchange.in, 1, MPI_UNSIGNED_CHAR, exchange.peer, kVolley, probes_,
                   &receives_.emplace_back());
        owners_.push_back(i);
    }

    /// The message before this one has been answered, so its request is as good as done.
    void send(Exchange& exchange) {
        wait_quietly(exchange.sending);
        exchange.sent = now();
        PMPI_Isend(&exchange.out, 1, MPI_UNSIGNED_CHAR, exchange.peer, kVolley, probes_, &exchange.sending);
    }

    static void add(Exchange& exchange, double trip) {
        exchange.second = std::min(exchange.second, std::max(exchange.shortest, trip));
        exchange.shortest = std::min(exchange.shortest, trip);
    }

    /// Whether another answer is to come.
    bool has_answer(Exchange& exchange) {
        if (++exchange.trips > 1) add(exchange, (now() - exchange.sent).count());
        exchange.out = exchange.trips == kTrips || patience_.is_over() ? 1 : 0;
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

std::vector<Seconds> ping_all(MPI_Comm probes, const std::vector<int>& peers, const Patience& patience) {
    return Volley(probes, peers, patience).run();
}

}  // namespace laple::mpi
