// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/trees/heuristics.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/index.hpp"

namespace laple {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Clusters without the message, in ascending order.
std::vector<int> all_but(int root, int count) {
    std::vector<int> waiting;
    for (int j = 0; j < count; ++j) {
        if (j != root) waiting.push_back(j);
    }
    return waiting;
}

SendOrder flat(const ClusterTimes& times, int root) {
    SendOrder order;
    for (const int j : all_but(root, times.count())) order.push_back({root, j});
    return order;
}

/// Who waits longest after its message is served first.
SendOrder jackson(const ClusterTimes& times, int root) {
    SendOrder order = flat(times, root);
    const auto tail = [&](const Send& send) { return times.latency(root, send.to) + times.local(send.to); };
    std::stable_sort(order.begin(), order.end(),
                     [&](const Send& a, const Send& b) { return tail(a) > tail(b); });
    return order;
}

/// For rules whose price of a message does not depend on when it is sent: for each cluster that waits, the
/// cheapest sender.
template <typename Price>
class CheapestSenders {
  public:
    CheapestSenders(int count, int root, Price price)
        : price_(price), from_(at(count), root), least_(at(count)) {
        for (int j = 0; j < count; ++j) {
            if (j != root) least_[at(j)] = price_(root, j);
        }
    }

    int from(int j) const { return from_[at(j)]; }
    double least(int j) const { return least_[at(j)]; }

    void add(int sender, const std::vector<int>& waiting) {
        for (const int j : waiting) {
            const double price = price_(sender, j);
            if (price < least_[at(j)]) {
                least_[at(j)] = price;
                from_[at(j)] = sender;
            }
        }
    }

  private:
    Price price_;
    std::vector<int> from_;
    std::vector<double> least_;
};

/// Serves, one after the other, the cluster that `is_better` prefers.
template <typename Senders, typename IsBetter>
SendOrder serve(Senders senders, int count, int root, IsBetter is_better) {
    std::vector<int> waiting = all_but(root, count);
    SendOrder order;
    while (!waiting.empty()) {
        auto best = waiting.begin();
        for (auto j = best + 1; j != waiting.end(); ++j) {
            if (is_better(senders.least(*j), senders.least(*best))) best = j;
        }
        const int to = *best;
        order.push_back({senders.from(to), to});
        waiting.erase(best);
        senders.add(to, waiting);
    }
    return order;
}

SendOrder fef(const ClusterTimes& times, int root) {
    const CheapestSenders senders(times.count(), root, [&](int i, int j) { return times.latency(i, j); });
    return serve(senders, times.count(), root, std::less<>());
}

SendOrder bottom_up(const ClusterTimes& times, int root) {
    const CheapestSenders senders(times.count(), root,
                                  [&](int i, int j) { return times.trip(i, j) + times.local(j); });
    return serve(senders, times.count(), root, std::greater<>());
}

/// No look-ahead.
struct Nothing {
    static void begin(const ClusterTimes&, const std::vector<int>&) {}
    static double of(int) { return 0; }
    static void remove(const ClusterTimes&, int, const std::vector<int>&) {}
};

/// The best next message of each waiting cluster to another: `Price` of it, and which of them is the best.
template <typename Price, typename IsBetter>
class LookAhead {
  public:
    void begin(const ClusterTimes& times, const std::vector<int>& waiting) {
        next_.assign(at(times.count()), -1);
        price_.assign(at(times.count()), 0);
        for (const int j : waiting) look(times, j, waiting);
    }

    double of(int j) const { return price_[at(j)]; }

    /// `served` does not wait any more: who would have sent to it looks for another.
    void remove(const ClusterTimes& times, int served, const std::vector<int>& waiting) {
        for (const int j : waiting) {
            if (next_[at(j)] == served) look(times, j, waiting);
        }
    }

  private:
    void look(const ClusterTimes& times, int j, const std::vector<int>& waiting) {
        next_[at(j)] = -1;
        price_[at(j)] = 0;
        for (const int k : waiting) {
            if (k == j) continue;
            const double price = Price()(times, j, k);
            if (next_[at(j)] < 0 || IsBetter()(price, price_[at(j)])) {
                next_[at(j)] = k;
                price_[at(j)] = price;
            }
        }
    }

    std::vector<int> next_;
    std::vector<double> price_;
};

struct Trip {
    double operator()(const ClusterTimes& times, int j, int k) const { return times.trip(j, k); }
};
struct TripAndLocal {
    double operator()(const ClusterTimes& times, int j, int k) const {
        return times.trip(j, k) + times.local(k);
    }
};

/// Earliest completing edge first, with a look at what comes after it.
template <typename Ahead>
class EarliestCompletion {
  public:
    EarliestCompletion(const ClusterTimes& times, int root)
        : times_(times),
          waiting_(all_but(root, times.count())),
          ready_(at(times.count()), kNever),
          from_(at(times.count()), root),
          arrival_(at(times.count())) {
        ready_[at(root)] = 0;
        senders_ = {root};
        for (const int j : waiting_) arrival_[at(j)] = times_.trip(root, j);
        ahead_.begin(times_, waiting_);
    }

    SendOrder run() {
        while (!waiting_.empty()) serve(earliest());
        return std::move(order_);
    }

  private:
    std::vector<int>::iterator earliest() {
        auto best = waiting_.begin();
        double least = kNever;
        for (auto j = waiting_.begin(); j != waiting_.end(); ++j) {
            const double price = arrival_[at(*j)] + ahead_.of(*j);
            if (price < least) {
                least = price;
                best = j;
            }
        }
        return best;
    }

    void serve(std::vector<int>::iterator next) {
        const int to = *next;
        const int from = from_[at(to)];
        order_.push_back({from, to});
        ready_[at(from)] += times_.gap(from, to);
        ready_[at(to)] = arrival_[at(to)];
        waiting_.erase(next);
        senders_.push_back(to);
        ahead_.remove(times_, to, waiting_);
        for (const int j : waiting_) {
            // The sender is busy longer now, so others may be better; for the rest only the new one may be.
            if (from_[at(j)] == from) {
                look_for_sender(j);
            } else {
                consider(to, j);
            }
        }
    }

    void look_for_sender(int j) {
        arrival_[at(j)] = kNever;
        for (const int i : senders_) consider(i, j);
    }

    void consider(int i, int j) {
        const double arrival = ready_[at(i)] + times_.trip(i, j);
        if (arrival < arrival_[at(j)]) {
            arrival_[at(j)] = arrival;
            from_[at(j)] = i;
        }
    }

    const ClusterTimes& times_;
    std::vector<int> waiting_;
    std::vector<int> senders_;
    std::vector<double> ready_;    // R_i
    std::vector<int> from_;        // of each that waits: who could serve it first
    std::vector<double> arrival_;  // and when it would have the message
    Ahead ahead_;
    SendOrder order_;
};

template <typename Ahead>
SendOrder earliest_completion(const ClusterTimes& times, int root) {
    return EarliestCompletion<Ahead>(times, root).run();
}

constexpr std::array<Heuristic, 8> kHeuristics{{
    {"flat", "the root sends to all, in order", "Kielmann et al., MagPIe, 1999", flat},
    {"jackson", "the root sends to all, max L_j + T_j first", "Jackson's rule", jackson},
    {"fef", "fastest edge first: min L_ij", "Bhat, Raghavendra, Prasanna, 1999", fef},
    {"ecef", "earliest completing edge first: min R_i + g_ij + L_ij", "Bhat, Raghavendra, Prasanna, 1999",
     earliest_completion<Nothing>},
    {"ecef-la", "ecef with look-ahead: + min g_jk + L_jk", "Bhat, Raghavendra, Prasanna, 1999",
     earliest_completion<LookAhead<Trip, std::less<>>>},
    {"ecef-la-min", "ecef with look-ahead: + min g_jk + L_jk + T_k",
     "Barchet-Estefanel and Mounié, 2006: ECEF-LAt",
     earliest_completion<LookAhead<TripAndLocal, std::less<>>>},
    {"ecef-la-max", "ecef with look-ahead: + max g_jk + L_jk + T_k",
     "Barchet-Estefanel and Mounié, 2006: ECEF-LAT",
     earliest_completion<LookAhead<TripAndLocal, std::greater<>>>},
    {"bottom-up", "max over j of min g_ij + L_ij + T_j", "Barchet-Estefanel and Mounié, 2006: BottomUp",
     bottom_up},
}};

}  // namespace

std::span<const Heuristic> heuristics() {
    return kHeuristics;
}

const Heuristic* heuristic_named(std::string_view name) {
    const auto found = std::find_if(kHeuristics.begin(), kHeuristics.end(),
                                    [&](const Heuristic& heuristic) { return heuristic.name == name; });
    return found == kHeuristics.end() ? nullptr : found;
}

}  // namespace laple
