// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/median.hpp"
#include "topology/doubts.hpp"
#include "topology/neighbour_walk.hpp"
#include "topology/survey.hpp"

namespace laple {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kAnchors = 2;  // nodes that stand for a cluster in a later sample
constexpr int kMaxChecks = 3;

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

/// The least latency of each pair that was measured: n log n of n² pairs.
class Known {
  public:
    void add(const PairLatency& measured) {
        const auto [entry, is_new] = latencies_.try_emplace(key(measured.pair), measured.latency.count());
        if (!is_new) entry->second = std::min(entry->second, measured.latency.count());
    }
    std::optional<double> find(NodePair pair) const {
        const auto found = latencies_.find(key(pair));
        if (found == latencies_.end()) return std::nullopt;
        return found->second;
    }
    int count() const { return static_cast<int>(latencies_.size()); }

    template <typename Use>
    void for_each(const Use& use) const {
        for (const auto& [pair, latency] : latencies_) use(pair.first, pair.second, latency);
    }

  private:
    static std::pair<int, int> key(NodePair pair) { return std::minmax(pair.a, pair.b); }
    std::map<std::pair<int, int>, double> latencies_;  // ordered: the outcome depends on nothing else
};

/// The clusters found so far, and what is known of their latencies.
class Placement {
  public:
    explicit Placement(int nodes) : cluster_of_(at(nodes), -1) {}

    int count() const { return static_cast<int>(members_.size()); }
    int cluster_of(int node) const { return cluster_of_[at(node)]; }
    const std::vector<int>& members(int cluster) const { return members_[at(cluster)]; }

    int add_cluster() {
        members_.emplace_back();
        return count() - 1;
    }
    void place(int node, int cluster) {
        cluster_of_[at(node)] = cluster;
        members_[at(cluster)].push_back(node);
    }
    void remove(int node) {
        std::erase(members_[at(cluster_of(node))], node);
        cluster_of_[at(node)] = -1;
    }
    void merge(int from, int into) {
        for (const int node : std::vector<int>(members(from))) {
            remove(node);
            place(node, into);
        }
    }

    /// Takes the medians from all that was measured between placed nodes.
    void learn(const Known& known) {
        std::vector<std::vector<double>> inside(members_.size());
        std::map<std::pair<int, int>, std::vector<double>> between;
        known.for_each([&](int a, int b, double latency) {
            const int low = std::min(cluster_of(a), cluster_of(b));
            const int high = std::max(cluster_of(a), cluster_of(b));
            if (low < 0) return;
            if (low == high) inside[at(low)].push_back(latency);
            if (low != high) between[{low, high}].push_back(latency);
        });
        width_.clear();
        std::vector<double> widths;
        for (auto& latencies : inside) {
            width_.push_back(median(latencies));
            if (width_.back() > 0) widths.push_back(width_.back());
        }
        usual_width_ = median(widths);
        distance_.clear();
        nearest_.assign(members_.size(), kInfinity);
        for (auto& [pair, latencies] : between) {
            const double distance = distance_[pair] = median(latencies);
            for (const int cluster : {pair.first, pair.second})
                nearest_[at(cluster)] = std::min(nearest_[at(cluster)], distance);
        }
    }

    double width(int cluster) const { return width_[at(cluster)]; }
    /// Infinite where nothing was measured.
    double distance(int a, int b) const {
        const auto found = distance_.find(std::minmax(a, b));
        return found == distance_.end() ? kInfinity : found->second;
    }

    /// Up to which latency from one of its nodes a node belongs to a cluster: what is no doubtful pair in it
    /// (doubtful_pairs), and nearer, in ratio, to its width than to its distance from others.
    double limit(int cluster) const {
        const double inside = width(cluster) > 0 ? width(cluster) : usual_width_;
        return std::min(2 * inside, std::sqrt(inside * nearest_[at(cluster)]));
    }

  private:
    std::vector<int> cluster_of_;  // by node; -1: not placed
    std::vector<std::vector<int>> members_;
    std::vector<double> width_;
    std::vector<double> nearest_;
    std::map<std::pair<int, int>, double> distance_;
    double usual_width_ = 0;
};

class Landmarks final : public Survey {
  public:
    Landmarks(std::span<const int> order, const ClusteringOptions& options)
        : options_(options), order_(order.begin(), order.end()), placement_(static_cast<int>(order.size())) {
        const auto nodes = static_cast<double>(std::max<std::size_t>(order.size(), 2));
        sample_size_ = std::max<std::size_t>(16, static_cast<std::size_t>(std::ceil(3 * std::log2(nodes))));
        sample_ = sample_of(order_);
        doubts_.emplace(options_);
    }

    std::vector<ProbeRound> next() override {
        while (phase_ != Phase::over) {
            if (auto rounds = step(); !rounds.empty()) return rounds;
        }
        return {};
    }

    void add(const PairLatency& measured) override { known_.add(measured); }

    Findings findings() const override {
        Findings found;
        found.pairs = known_.count();
        found.odd_pairs = odd_pairs_;
        std::vector<std::pair<std::vector<int>, int>> order;
        for (int cluster = 0; cluster < placement_.count(); ++cluster) {
            auto members = placement_.members(cluster);
            if (members.empty()) continue;
            std::sort(members.begin(), members.end());
            order.emplace_back(std::move(members), cluster);
        }
        std::sort(order.begin(), order.end());
        found.between = LatencyMatrix(static_cast<int>(order.size()));
        for (std::size_t a = 0; a < order.size(); ++a) {
            found.clusters.push_back(order[a].first);
            found.inside.emplace_back(placement_.width(order[a].second));
            for (std::size_t b = 0; b < a; ++b) {
                const double distance = placement_.distance(order[a].second, order[b].second);
                if (distance < kInfinity)
                    found.between.set(static_cast<int>(a), static_cast<int>(b), Seconds(distance));
            }
        }
        return found;
    }

  private:
    enum class Phase { sample, doubts, expected, others, strangers, check, check_again, over };

    /// Draws conclusions from what was measured, goes on to the next phase, and returns what that one needs
    /// to know. Empty when it needs nothing new.
    std::vector<ProbeRound> step() {
        switch (phase_) {
            case Phase::sample:
                phase_ = Phase::doubts;
                return rounds_unknown(rounds_of_all(sample_));
            case Phase::doubts:
                return look_at_doubts();
            case Phase::expected:
                return meet_expected();
            case Phase::others:
                return meet_others();
            case Phase::strangers:
                return next_sample();
            case Phase::check:
                return check();
            case Phase::check_again:
                return check_again();
            case Phase::over:
                break;
        }
        return {};
    }

    /// One node, at random, of each of so many equal parts of `nodes`.
    std::vector<int> sample_of(const std::vector<int>& nodes) {
        std::vector<int> sample;
        const std::size_t count = std::min(sample_size_, nodes.size());
        for (std::size_t part = 0; part < count; ++part) {
            const std::size_t begin = part * nodes.size() / count;
            const std::size_t end = (part + 1) * nodes.size() / count;
            sample.push_back(nodes[begin + random_() % (end - begin)]);
        }
        std::sort(sample.begin(), sample.end());
        return sample;
    }

    std::vector<ProbeRound> rounds_unknown(std::vector<ProbeRound> rounds) const {
        for (ProbeRound& round : rounds)
            std::erase_if(round, [&](const NodePair& pair) { return known_.find(pair).has_value(); });
        std::erase_if(rounds, [](const ProbeRound& round) { return round.empty(); });
        return rounds;
    }

    LatencyMatrix matrix_of_sample() const {
        LatencyMatrix matrix(static_cast<int>(sample_.size()));
        for (int a = 0; a < matrix.nodes(); ++a) {
            for (int b = 0; b < a; ++b)
                matrix.set(a, b, Seconds(*known_.find({sample_[at(a)], sample_[at(b)]})));
        }
        return matrix;
    }

    std::vector<ProbeRound> look_at_doubts() {
        std::vector<NodePair> pairs = doubts_->next(matrix_of_sample());
        for (NodePair& pair : pairs) pair = {sample_[at(pair.a)], sample_[at(pair.b)]};
        if (!pairs.empty()) return rounds_of(pairs);
        place_sample(cluster_nodes(matrix_of_sample(), options_));
        waiting_.clear();
        walk_ = NeighbourWalk(order_.size());
        phase_ = Phase::expected;
        return {};
    }

    /// A group of the sample that holds nodes of known clusters joins them; one without is a new cluster.
    void place_sample(const Clusters& groups) {
        for (const auto& group : groups) {
            std::set<int> old;
            for (const int i : group) old.insert(placement_.cluster_of(sample_[at(i)]));
            old.erase(-1);
            const int cluster = old.empty() ? placement_.add_cluster() : *old.begin();
            for (const int other : old) {
                if (other != cluster) placement_.merge(other, cluster);
            }
            for (const int i : group) {
                if (placement_.cluster_of(sample_[at(i)]) < 0) placement_.place(sample_[at(i)], cluster);
            }
        }
        placement_.learn(known_);
    }

    /// Each node that is in no cluster measures with the placed node closest to it in the order, and if it
    /// does not belong there, with the closest one on the other side.
    std::vector<ProbeRound> meet_expected() {
        place_waiting();
        std::vector<bool> is_placed;
        for (const int node : order_) is_placed.push_back(placement_.cluster_of(node) >= 0);
        waiting_.clear();
        std::vector<NodePair> pairs;
        for (const auto& [waiting, placed] : walk_.next(is_placed)) {
            waiting_.push_back(order_[at(waiting)]);
            pairs.push_back({order_[at(waiting)], order_[at(placed)]});
        }
        if (pairs.empty()) {
            std::copy_if(order_.begin(), order_.end(), std::back_inserter(waiting_),
                         [&](int node) { return placement_.cluster_of(node) < 0; });
            phase_ = Phase::others;
        }
        return rounds_unknown(rounds_of(pairs));
    }

    /// Places those that were found to belong somewhere. Of the rest, as many as there are placed nodes to
    /// meet them meet a node of each cluster, until all have.
    std::vector<ProbeRound> meet_others() {
        place_waiting();
        std::size_t capacity = order_.size() - waiting_.size();
        std::vector<NodePair> pairs;
        std::vector<std::size_t> turn(at(placement_.count()), 0);
        for (const int node : waiting_) {
            if (capacity == 0) break;
            if (!met_all_.insert(node).second) continue;
            --capacity;
            for (int cluster = 0; cluster < placement_.count(); ++cluster) {
                const auto& members = placement_.members(cluster);
                if (!members.empty() && !has_met(node, cluster))
                    pairs.push_back({node, members[turn[at(cluster)]++ % members.size()]});
            }
        }
        if (pairs.empty()) phase_ = Phase::strangers;
        return rounds_of(pairs);
    }

    bool has_met(int node, int cluster) const {
        const auto& members = placement_.members(cluster);
        return std::any_of(members.begin(), members.end(), [&](int member) {
            return known_.find({node, member}).has_value();
        });
    }

    /// The cluster of the nearest node met, if that is near enough.
    std::optional<int> home_of(int node) const {
        double best = kInfinity;
        int home = -1;
        for (int cluster = 0; cluster < placement_.count(); ++cluster) {
            for (const int member : placement_.members(cluster)) {
                const auto latency = known_.find({node, member});
                if (!latency || *latency >= best) continue;
                best = *latency;
                home = cluster;
            }
        }
        if (home < 0 || best > placement_.limit(home)) return std::nullopt;
        return home;
    }

    void place_waiting() {
        std::vector<std::pair<int, int>> homes;
        for (const int node : waiting_) {
            if (const auto home = home_of(node)) homes.emplace_back(node, *home);
        }
        for (const auto& [node, home] : homes) placement_.place(node, home);
        std::erase_if(waiting_, [&](int node) { return placement_.cluster_of(node) >= 0; });
        placement_.learn(known_);
    }

    /// Every cluster has nodes in it, so that all clusters meet, those found in other samples too.
    std::vector<ProbeRound> next_sample() {
        if (waiting_.empty()) {
            phase_ = Phase::check;
            return {};
        }
        sample_ = sample_of(waiting_);
        for (int cluster = 0; cluster < placement_.count(); ++cluster) {
            const auto& members = placement_.members(cluster);
            const auto anchors = std::min<std::size_t>(kAnchors, members.size());
            sample_.insert(sample_.end(), members.begin(), members.begin() + static_cast<long>(anchors));
        }
        std::sort(sample_.begin(), sample_.end());
        doubts_.emplace(options_);
        met_all_.clear();
        phase_ = Phase::sample;
        return {};
    }

    /// Random pairs, one of each node in its cluster, and one with another cluster.
    std::vector<ProbeRound> check() {
        placement_.learn(known_);
        checked_.clear();
        std::vector<NodePair> pairs;
        for (int cluster = 0; cluster < placement_.count(); ++cluster)
            pair_up(placement_.members(cluster), pairs);
        pair_up(order_, pairs);
        std::erase_if(pairs, [&](const NodePair& pair) { return known_.find(pair).has_value(); });
        checked_ = pairs;
        phase_ = Phase::check_again;
        return rounds_of(pairs);
    }

    void pair_up(std::vector<int> nodes, std::vector<NodePair>& pairs) {
        for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random_() % i]);
        for (std::size_t i = 1; i < nodes.size(); i += 2) pairs.push_back({nodes[i - 1], nodes[i]});
    }

    bool fits(const NodePair& pair) const {
        const double latency = *known_.find(pair);
        const int a = placement_.cluster_of(pair.a);
        const int b = placement_.cluster_of(pair.b);
        if (a == b) return latency <= placement_.limit(a);
        const double usual = placement_.distance(a, b);
        return latency > std::max(placement_.limit(a), placement_.limit(b)) && latency < 2 * usual;
    }

    /// Pairs that do not fit are measured once more. Nodes that still do not fit are placed anew.
    std::vector<ProbeRound> check_again() {
        std::vector<NodePair> odd;
        for (const NodePair& pair : checked_) {
            if (!fits(pair)) odd.push_back(pair);
        }
        const bool were_looked_at_again = std::exchange(is_second_look_, !is_second_look_);
        if (!odd.empty() && !were_looked_at_again) {
            checked_ = odd;
            return rounds_of(odd);
        }
        is_second_look_ = false;
        odd_pairs_ = static_cast<int>(odd.size());
        ++checks_;
        if (odd.empty() || checks_ >= kMaxChecks) {
            phase_ = Phase::over;
            return {};
        }
        waiting_.clear();
        for (const NodePair& pair : odd) {
            for (const int node : {pair.a, pair.b}) {
                if (placement_.cluster_of(node) < 0) continue;
                placement_.remove(node);
                waiting_.push_back(node);
            }
        }
        placement_.learn(known_);
        phase_ = Phase::strangers;
        return {};
    }

    ClusteringOptions options_;
    std::vector<int> order_;
    std::size_t sample_size_ = 0;
    std::minstd_rand random_{20061};  // any seed will do; the same at every run

    Phase phase_ = Phase::sample;
    Known known_;
    Placement placement_;
    std::vector<int> sample_;
    std::optional<Doubts> doubts_;
    std::vector<int> waiting_;  // nodes without a cluster
    NeighbourWalk walk_{0};
    std::set<int> met_all_;  // of these: who has met a node of each cluster
    std::vector<NodePair> checked_;
    bool is_second_look_ = false;
    int checks_ = 0;
    int odd_pairs_ = 0;
};

}  // namespace

std::unique_ptr<Survey> survey_by_landmarks(std::span<const int> order, const ClusteringOptions& options) {
    return std::make_unique<Landmarks>(order, options);
}

}  // namespace laple
