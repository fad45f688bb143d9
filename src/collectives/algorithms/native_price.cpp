// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/native_price.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace laple {
namespace {

constexpr Bytes kLongBcast = 12 * 1024;
constexpr int kFewRanks = 8;
constexpr Bytes kLongReduction = 2 * 1024;

/// When each rank is ready, as rounds of messages go by. Ranks are counted from the root.
class Rounds {
  public:
    Rounds(const Request& request, const std::vector<int>& cluster_of_rank, const MachineCosts& costs)
        : cluster_of_(cluster_of_rank),
          costs_(costs),
          ready_(cluster_of_rank.size(), 0),
          credit_(ready_.size(), 0),
          usual_credit_(ready_.size(), 0) {
        std::rotate(cluster_of_.begin(), cluster_of_.begin() + request.root, cluster_of_.end());
        for (std::size_t i = 0; costs.shares_ports && i < ready_.size(); ++i) {
            credit_[i] = costs.cluster(cluster(i)).credit();
            usual_credit_[i] = costs.cluster(cluster(i)).usual_credit();
        }
        busy_.resize(ready_.size());
    }

    std::size_t ranks() const { return ready_.size(); }
    /// The largest power of two that is less than the number of ranks.
    std::size_t half() const {
        std::size_t half = 1;
        while (half * 2 < ranks()) half *= 2;
        return half;
    }

    /// Messages of one size from now on.
    void begin(Bytes bytes, bool combines) {
        bytes_ = bytes;
        combines_ = combines;
        known_.assign(static_cast<std::size_t>(costs_.count()) * static_cast<std::size_t>(costs_.count()),
                      -1);
        next_ = ready_;
    }
    void send(std::size_t from, std::size_t to) {
        const double gap = rested(from, gap_of(from, to));
        next_[from] = std::max(next_[from], ready_[from] + gap);
        next_[to] = std::max(next_[to], ready_[from] + gap + latency_of(from, to) + ramp(from, to));
    }
    void end() { ready_ = next_; }

    double last() const { return std::max(*std::max_element(ready_.begin(), ready_.end()), busiest()); }
    double at_root() const { return std::max(ready_.front(), busiest()); }
    /// What the busiest NIC takes, call after call.
    double busiest() const {
        double most = 0;
        for (std::size_t i = 0; i < busy_.size(); ++i) most = std::max(most, busy_[i] - usual_credit_[i]);
        return most;
    }

    /// Everybody passes blocks of `bytes` to the right until all have all.
    void ring(Bytes bytes) {
        begin(bytes, false);
        double gaps = 0;
        double latencies = 0;
        double slowest = 0;
        for (std::size_t i = 0; i < ranks(); ++i) {
            const std::size_t next = (i + 1) % ranks();
            gaps += gap_of(i, next);
            latencies += latency_of(i, next);
            slowest = std::max(slowest, gap_of(i, next));
        }
        const double saved = *std::min_element(credit_.begin(), credit_.end());
        const double all_of_slowest = slowest * static_cast<double>(ranks() - 1);
        const double time = std::max(latencies + std::max(gaps - saved, 0.0), all_of_slowest - saved);
        for (double& ready : ready_) ready += time;
        for (double& busy : busy_) busy += slowest * static_cast<double>(ranks() - 1);
    }

  private:
    /// What a NIC that has rested saves at each message, while it has some of its reserve left.
    double rested(std::size_t from, double gap) {
        busy_[from] += gap;
        const double saved = std::min(credit_[from], gap);
        credit_[from] -= saved;
        return gap - saved;
    }
    int cluster(std::size_t i) const { return cluster_of_[i]; }
    double latency_of(std::size_t from, std::size_t to) const {
        return costs_.link(cluster(from), cluster(to)).latency;
    }
    /// Each message of a size has a flow of its own.
    double ramp(std::size_t from, std::size_t to) {
        if (cluster(from) == cluster(to) || bytes_ == 0) return 0;
        const auto bytes = static_cast<double>(bytes_);
        return costs_.ramp(latency_of(from, to), bytes, gap_of(from, to) / bytes);
    }
    double gap_of(std::size_t from, std::size_t to) {
        const int a = cluster(from);
        const int b = cluster(to);
        double& gap = known_[static_cast<std::size_t>(a) * static_cast<std::size_t>(costs_.count()) +
                             static_cast<std::size_t>(b)];
        if (gap < 0) {
            const double combining =
                combines_ ? costs_.cluster(b).reduction * static_cast<double>(bytes_) : 0;
            gap = costs_.link(a, b).gap.at(bytes_).count() + combining;
        }
        return gap;
    }

    std::vector<int> cluster_of_;  // the root's first
    const MachineCosts& costs_;
    std::vector<double> ready_;
    std::vector<double> next_;
    std::vector<double> credit_;  // by rank, what is left of it
    std::vector<double> usual_credit_;
    std::vector<double> busy_;   // by rank, with all that it sends
    std::vector<double> known_;  // by pair of clusters; below 0: not looked up
    Bytes bytes_ = 0;
    bool combines_ = false;
};

/// Every message half of the one before where `halves`, else the whole of it.
void binomial_down(Rounds& rounds, Bytes bytes, bool halves) {
    for (std::size_t distance = rounds.half(); distance >= 1; distance /= 2) {
        if (halves) bytes = bytes / 2;
        rounds.begin(bytes, false);
        for (std::size_t i = 0; i + distance < rounds.ranks(); i += 2 * distance)
            rounds.send(i, i + distance);
        rounds.end();
    }
}

void binomial_up(Rounds& rounds, Bytes bytes, bool doubles, bool combines) {
    for (std::size_t distance = 1; distance <= rounds.half(); distance *= 2) {
        rounds.begin(bytes, combines);
        for (std::size_t i = 0; i + distance < rounds.ranks(); i += 2 * distance)
            rounds.send(i + distance, i);
        rounds.end();
        if (doubles) bytes *= 2;
    }
}

/// Partners `distance` apart swap.
void swap_all(Rounds& rounds, std::size_t distance, Bytes bytes, bool combines) {
    rounds.begin(bytes, combines);
    for (std::size_t i = 0; i < rounds.ranks(); ++i) {
        const std::size_t partner = i ^ distance;
        if (partner < rounds.ranks()) rounds.send(i, partner);
    }
    rounds.end();
}

void halving(Rounds& rounds, Bytes bytes) {
    for (std::size_t distance = rounds.half(); distance >= 1; distance /= 2)
        swap_all(rounds, distance, bytes /= 2, true);
}

void doubling(Rounds& rounds, Bytes bytes) {
    for (std::size_t distance = 1; distance <= rounds.half(); distance *= 2) {
        swap_all(rounds, distance, bytes, false);
        bytes *= 2;
    }
}

double bcast_time(Rounds rounds, Bytes bytes) {
    const bool is_long = bytes >= kLongBcast && rounds.ranks() >= kFewRanks;
    binomial_down(rounds, bytes, is_long);
    if (is_long) rounds.ring(bytes / rounds.ranks());
    return rounds.last();
}

double reduce_time(Rounds rounds, Bytes bytes) {
    if (bytes < kLongReduction) {
        binomial_up(rounds, bytes, false, true);
        return rounds.at_root();
    }
    halving(rounds, bytes);
    binomial_up(rounds, bytes / rounds.ranks(), true, false);
    return rounds.at_root();
}

double allreduce_time(Rounds rounds, Bytes bytes) {
    if (bytes < kLongReduction) {
        for (std::size_t distance = 1; distance <= rounds.half(); distance *= 2)
            swap_all(rounds, distance, bytes, true);
        return rounds.last();
    }
    halving(rounds, bytes);
    doubling(rounds, bytes / rounds.ranks());
    return rounds.last();
}

double barrier_time(Rounds rounds) {
    for (std::size_t distance = 1; distance <= rounds.half(); distance *= 2) {
        rounds.begin(0, false);
        for (std::size_t i = 0; i < rounds.ranks(); ++i) rounds.send(i, (i + distance) % rounds.ranks());
        rounds.end();
    }
    return rounds.last();
}

/// What a message larger than any that was measured takes at least. Large ones go on as the last two did;
/// smaller ones may be done otherwise from some size on.
double beyond(const Curve& curve, Bytes bytes) {
    constexpr Bytes kLarge = 1 << 20;
    const auto& known = curve.known();
    const auto& [last, time] = known.back();
    if (last < kLarge || known.size() < 2) return time.count();
    const auto& [before, time_before] = known[known.size() - 2];
    const double slope = std::max((time - time_before).count(), 0.0) / static_cast<double>(last - before);
    return time.count() + slope * static_cast<double>(bytes - last);
}

}  // namespace

double native_time(const Request& request, const std::vector<int>& cluster_of_rank,
                   const MachineCosts& costs) {
    if (cluster_of_rank.size() < 2) return 0;
    const Rounds rounds(request, cluster_of_rank, costs);
    switch (request.collective) {
        case Collective::bcast:
            return bcast_time(rounds, request.bytes());
        case Collective::reduce:
            return reduce_time(rounds, request.bytes());
        case Collective::allreduce:
            return allreduce_time(rounds, request.bytes());
        case Collective::barrier:
            return barrier_time(rounds);
    }
    return std::numeric_limits<double>::infinity();
}

NativePrice native_price(const Request& request, const std::vector<int>& cluster_of_rank,
                         const MachineCosts& costs) {
    const double estimated = native_time(request, cluster_of_rank, costs);
    const Curve& curve = costs.native.of(name_of(request.collective));
    const bool is_known = !curve.is_empty() && costs.native.ranks > 0 &&
                          static_cast<std::size_t>(costs.native.ranks) == cluster_of_rank.size();
    if (!is_known) return {estimated, false};
    const Bytes largest = curve.known().back().first;
    double time =
        request.bytes() > largest ? beyond(curve, request.bytes()) : curve.at(request.bytes()).count();
    if (request.root != 0) {
        Request from_0 = request;
        from_0.root = 0;
        const double usual = native_time(from_0, cluster_of_rank, costs);
        if (usual > 0) time *= estimated / usual;
    }
    if (request.bytes() > largest) return {std::max(time, estimated), false};
    return {time, true};
}

}  // namespace laple
