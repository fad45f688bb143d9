// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/trees/best_order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "collectives/trees/heuristics.hpp"

namespace laple {
namespace {

/// The best heuristic, as it is.
BestOrder best_heuristic(const ClusterTimes& times, int root, LocalPhase phase) {
    BestOrder best;
    best.makespan = std::numeric_limits<double>::infinity();
    for (const Heuristic& heuristic : heuristics()) {
        SendOrder order = heuristic.build(times, root);
        const double time = makespan(times, order, root, phase);
        if (time < best.makespan) best = {std::move(order), time, std::string(heuristic.name)};
    }
    return best;
}

class BranchAndBound {
  public:
    BranchAndBound(const ClusterTimes& times, int root, LocalPhase phase)
        : times_(times), count_(times.count()), phase_(phase), has_it_(1u << root) {
        best_ = best_heuristic(times, root, phase);
        find_shortest_paths();
    }

    SendOrder run() {
        search(0);
        return std::move(best_.order);
    }

  private:
    static constexpr std::size_t kMost = static_cast<std::size_t>(kExactClusters);
    using Row = std::array<double, kMost>;

    /// How soon `to` can have a message that `from` may begin to send, over any others. (Floyd, Warshall)
    void find_shortest_paths() {
        for (int a = 0; a < count_; ++a) {
            for (int b = 0; b < count_; ++b) shortest_[at(a)][at(b)] = a == b ? 0 : times_.trip(a, b);
        }
        for (int via = 0; via < count_; ++via) {
            for (int a = 0; a < count_; ++a) {
                for (int b = 0; b < count_; ++b) {
                    const double detour = shortest_[at(a)][at(via)] + shortest_[at(via)][at(b)];
                    shortest_[at(a)][at(b)] = std::min(shortest_[at(a)][at(b)], detour);
                }
            }
        }
    }

    bool has(int cluster) const { return (has_it_ >> cluster & 1u) != 0; }

    /// No completion of what has been sent so far ends sooner.
    double bound() const {
        double bound = 0;
        for (int j = 0; j < count_; ++j) {
            if (has(j)) {
                bound = std::max(bound, begin_[at(j)] + times_.local(j));
                continue;
            }
            double arrival = std::numeric_limits<double>::infinity();
            for (int i = 0; i < count_; ++i) {
                if (has(i)) arrival = std::min(arrival, ready_[at(i)] + shortest_[at(i)][at(j)]);
            }
            bound = std::max(bound, arrival + times_.local(j));
        }
        return bound;
    }

    /// Messages are tried in the order of their starts, so that each set of sends is tried in one order only;
    /// `since` is the last one's.
    void search(double since) {
        const double least = bound();
        if (least >= best_.makespan) return;
        if (order_.size() + 1 == at(count_)) {
            best_ = {order_, least, {}};
            return;
        }
        for (int i = 0; i < count_; ++i) {
            if (!has(i) || ready_[at(i)] < since) continue;
            for (int j = 0; j < count_; ++j) {
                if (!has(j)) send(i, j);
            }
        }
    }

    void send(int from, int to) {
        const double start = ready_[at(from)];
        const double begin = begin_[at(from)];
        ready_[at(from)] += times_.gap(from, to);
        if (phase_ == LocalPhase::after_sends) begin_[at(from)] = ready_[at(from)];
        ready_[at(to)] = begin_[at(to)] = start + times_.trip(from, to);
        has_it_ ^= 1u << to;
        order_.push_back({from, to});
        search(start);
        order_.pop_back();
        has_it_ ^= 1u << to;
        ready_[at(from)] = start;
        begin_[at(from)] = begin;
    }

    const ClusterTimes& times_;
    int count_;
    LocalPhase phase_;
    std::array<Row, kMost> shortest_{};
    unsigned has_it_;  // a bit for each cluster
    Row ready_{};      // when it can send next
    Row begin_{};      // when its local phase begins
    SendOrder order_;
    BestOrder best_;
};

/// One local search: a better neighbour is taken as soon as it is seen.
class LocalSearch {
  public:
    LocalSearch(const ClusterTimes& times, SendOrder order, int root, LocalPhase phase)
        : times_(times),
          root_(root),
          phase_(phase),
          order_(std::move(order)),
          position_(at(times.count()), -1) {
        best_ = makespan(times_, order_, root_, phase_);
    }

    SendOrder run() {
        while (trials_ < kMostTrials && (try_senders() || try_swaps())) {
        }
        return std::move(order_);
    }

  private:
    static constexpr int kMostTrials = 4000;  // some thousand makespans of a few hundred nanoseconds

    /// Keeps `order_` as it is now when that is better.
    bool is_better() {
        ++trials_;
        const double time = makespan(times_, order_, root_, phase_);
        if (time >= best_) return false;
        best_ = time;
        return true;
    }

    /// Each cluster that could have served another sooner or later in the order.
    bool try_senders() {
        bool has_improved = false;
        for (std::size_t s = 0; s < order_.size(); ++s) {
            const int before = order_[s].from;
            int kept = before;
            for (std::size_t other = 0; other <= s && trials_ < kMostTrials; ++other) {
                const int sender = other == 0 ? root_ : order_[other - 1].to;
                if (sender == kept) continue;
                order_[s].from = sender;
                if (is_better()) kept = sender;
                order_[s].from = kept;
            }
            has_improved = has_improved || kept != before;
        }
        return has_improved;
    }

    bool try_swaps() {
        bool has_improved = false;
        for (std::size_t a = 0; a < order_.size(); ++a) {
            for (std::size_t b = a + 1; b < order_.size() && trials_ < kMostTrials; ++b) {
                std::swap(order_[a], order_[b]);
                if (is_valid() && is_better()) {
                    has_improved = true;
                } else {
                    std::swap(order_[a], order_[b]);
                }
            }
        }
        return has_improved;
    }

    /// Nobody sends before it has received.
    bool is_valid() {
        for (std::size_t s = 0; s < order_.size(); ++s) position_[at(order_[s].to)] = static_cast<int>(s);
        for (std::size_t s = 0; s < order_.size(); ++s) {
            if (order_[s].from != root_ && position_[at(order_[s].from)] > static_cast<int>(s)) return false;
        }
        return true;
    }

    const ClusterTimes& times_;
    int root_;
    LocalPhase phase_;
    SendOrder order_;
    std::vector<int> position_;
    double best_ = 0;
    int trials_ = 0;
};

}  // namespace

SendOrder exact_order(const ClusterTimes& times, int root, LocalPhase phase) {
    if (times.count() > kExactClusters) throw std::invalid_argument("too many clusters for an exact search");
    return BranchAndBound(times, root, phase).run();
}

SendOrder improved(const ClusterTimes& times, SendOrder order, int root, LocalPhase phase) {
    return LocalSearch(times, std::move(order), root, phase).run();
}

BestOrder best_order(const ClusterTimes& times, int root, LocalPhase phase) {
    if (times.count() <= kExactClusters) {
        SendOrder order = exact_order(times, root, phase);
        const double time = makespan(times, order, root, phase);
        return {std::move(order), time, "exact"};
    }
    BestOrder best = best_heuristic(times, root, phase);
    best.order = improved(times, std::move(best.order), root, phase);
    const double time = makespan(times, best.order, root, phase);
    if (time < best.makespan) best.found_by += "+";
    best.makespan = time;
    return best;
}

}  // namespace laple
