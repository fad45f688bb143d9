// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "topology/doubts.hpp"
#include "topology/known_clusters.hpp"
#include "topology/neighbour_walk.hpp"
#include "topology/survey.hpp"

namespace laple {
namespace {

constexpr int kAnchors = 2;  // nodes that stand for a cluster in a later sample
constexpr int kMaxChecks = 3;

using Random = std::minstd_rand;

/// One node, at random, of each of so many equal parts of `nodes`; of every third part, the one beside it,
/// too: sites may be smaller than a part, and without two nodes of any site nobody knows how near these are.
std::vector<int> sample_of(const std::vector<int>& nodes, std::size_t most, Random& random) {
    constexpr std::size_t kThird = 3;
    std::vector<int> sample;
    const std::size_t count = std::min(most, nodes.size());
    for (std::size_t part = 0; part < count; ++part) {
        const std::size_t begin = part * nodes.size() / count;
        const std::size_t end = (part + 1) * nodes.size() / count;
        const std::size_t place = begin + random() % (end - begin);
        sample.push_back(nodes[place]);
        if (part % kThird == 0 && end - begin > 1)
            sample.push_back(nodes[place + 1 < end ? place + 1 : place - 1]);
    }
    std::sort(sample.begin(), sample.end());
    return sample;
}

/// Adds random pairs of `nodes`, as many as there are without a node in common.
void pair_up(std::vector<int> nodes, Random& random, std::vector<NodePair>& pairs) {
    for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random() % i]);
    for (std::size_t i = 1; i < nodes.size(); i += 2) pairs.push_back({nodes[i - 1], nodes[i]});
}

class Landmarks final : public Survey {
  public:
    Landmarks(std::span<const int> order, const ClusteringOptions& options)
        : options_(options), order_(order.begin(), order.end()), known_(static_cast<int>(order.size())) {
        const auto nodes = static_cast<double>(std::max<std::size_t>(order.size(), 2));
        sample_size_ = std::max<std::size_t>(16, static_cast<std::size_t>(std::ceil(3 * std::log2(nodes))));
        sample_ = sample_of(order_, sample_size_, random_);
        doubts_.emplace(options_);
    }

    std::vector<ProbeRound> next() override {
        while (step_ != nullptr) {
            if (Rounds rounds = (this->*step_)(); !rounds.empty()) return rounds;
        }
        return {};
    }

    void add(const PairLatency& measured) override { known_.add(measured); }

    Findings findings() const override {
        if (!are_all_placed() && before_odd_nodes_) return *before_odd_nodes_;
        Findings found = known_.findings();
        found.odd_pairs = odd_pairs_;
        return found;
    }

    bool is_usable() const override { return are_all_placed() || before_odd_nodes_; }

  private:
    /// While what was found is only checked, each node has its place.
    bool are_all_placed() const {
        return step_ == nullptr || step_ == &Landmarks::check_again ||
               step_ == &Landmarks::place_odd_nodes_anew;
    }

    using Rounds = std::vector<ProbeRound>;
    /// Draws conclusions from what was measured, sets the next step, and returns what that one needs to know.
    /// Empty when it needs nothing new.
    using Step = Rounds (Landmarks::*)();

    Rounds not_yet_measured(Rounds rounds) const {
        take_out(rounds, [&](const NodePair& pair) { return known_.is_measured(pair); });
        return rounds;
    }

    Rounds measure_sample() {
        step_ = &Landmarks::measure_doubtful;
        return not_yet_measured(rounds_of_all(sample_));
    }

    Rounds measure_doubtful() {
        std::vector<NodePair> pairs = doubts_->next(known_.matrix_of(sample_));
        for (NodePair& pair : pairs) pair = {sample_[at(pair.a)], sample_[at(pair.b)]};
        if (!pairs.empty()) return rounds_of(pairs);
        // Of sites that a sample holds one node of each, all latencies are about the same.
        const LatencyMatrix matrix = known_.matrix_of(sample_);
        for (auto& group : split_where_far(matrix, cluster_nodes(matrix, options_))) {
            for (int& node : group) node = sample_[at(node)];
            known_.place_together(group);
        }
        known_.learn();
        waiting_.clear();
        walk_ = NeighbourWalk(order_.size());
        step_ = &Landmarks::try_expected_clusters;
        return {};
    }

    /// Each node that is in no cluster measures with the placed node closest to it in the order, and if it
    /// does not belong there, with the closest one on the other side.
    Rounds try_expected_clusters() {
        place_waiting();
        std::vector<bool> is_placed;
        for (const int node : order_) is_placed.push_back(known_.is_placed(node));
        waiting_.clear();
        std::vector<NodePair> pairs;
        for (const auto& [waiting, placed] : walk_.next(is_placed)) {
            waiting_.push_back(order_[at(waiting)]);
            pairs.push_back({order_[at(waiting)], order_[at(placed)]});
        }
        if (pairs.empty()) {
            std::copy_if(order_.begin(), order_.end(), std::back_inserter(waiting_),
                         [&](int node) { return !known_.is_placed(node); });
            step_ = &Landmarks::try_all_clusters;
        }
        return not_yet_measured(rounds_of(pairs));
    }

    /// Places those that were found to belong somewhere. Of the rest, as many as there are placed nodes
    /// measure with a node of each cluster, until all have.
    Rounds try_all_clusters() {
        place_waiting();
        std::size_t capacity = order_.size() - waiting_.size();
        std::vector<NodePair> pairs;
        std::vector<std::size_t> turn(at(known_.count()), 0);
        for (const int node : waiting_) {
            if (capacity == 0) break;
            if (!has_tried_all_.insert(node).second) continue;
            --capacity;
            for (int cluster = 0; cluster < known_.count(); ++cluster) {
                const auto& members = known_.members(cluster);
                if (!members.empty() && !known_.has_measured(node, cluster))
                    pairs.push_back({node, members[turn[at(cluster)]++ % members.size()]});
            }
        }
        if (pairs.empty()) step_ = &Landmarks::next_sample;
        return rounds_of(pairs);
    }

    void place_waiting() {
        std::vector<std::pair<int, int>> found;
        for (const int node : waiting_) {
            if (const auto cluster = known_.nearest_cluster(node)) found.emplace_back(node, *cluster);
        }
        for (const auto& [node, cluster] : found) known_.place(node, cluster);
        std::erase_if(waiting_, [&](int node) { return known_.is_placed(node); });
        known_.learn();
    }

    /// Every cluster has nodes in it, so that all are measured against each other, those of other samples
    /// too.
    Rounds next_sample() {
        if (waiting_.empty()) {
            step_ = &Landmarks::check;
            return {};
        }
        sample_ = sample_of(waiting_, sample_size_, random_);
        for (int cluster = 0; cluster < known_.count(); ++cluster) {
            const auto& members = known_.members(cluster);
            const auto anchors = std::min<std::size_t>(kAnchors, members.size());
            sample_.insert(sample_.end(), members.begin(), members.begin() + static_cast<long>(anchors));
        }
        std::sort(sample_.begin(), sample_.end());
        doubts_.emplace(options_);
        has_tried_all_.clear();
        step_ = &Landmarks::measure_sample;
        return {};
    }

    /// Random pairs, one of each node in its cluster, and one with another cluster.
    Rounds check() {
        known_.learn();
        checked_.clear();
        for (int cluster = 0; cluster < known_.count(); ++cluster)
            pair_up(known_.members(cluster), random_, checked_);
        pair_up(order_, random_, checked_);
        std::erase_if(checked_, [&](const NodePair& pair) { return known_.is_measured(pair); });
        step_ = &Landmarks::check_again;
        return rounds_of(checked_);
    }

    /// Pairs that do not fit are measured once more.
    Rounds check_again() {
        std::erase_if(checked_, [&](const NodePair& pair) { return known_.fits(pair); });
        step_ = &Landmarks::place_odd_nodes_anew;
        return rounds_of(checked_);
    }

    /// Nodes that still do not fit are placed anew.
    Rounds place_odd_nodes_anew() {
        std::erase_if(checked_, [&](const NodePair& pair) { return known_.fits(pair); });
        odd_pairs_ = static_cast<int>(checked_.size());
        if (checked_.empty() || ++checks_ >= kMaxChecks) {
            step_ = nullptr;
            return {};
        }
        before_odd_nodes_ = findings();
        waiting_.clear();
        for (const NodePair& pair : checked_) {
            for (const int node : {pair.a, pair.b}) {
                if (!known_.is_placed(node)) continue;
                known_.remove(node);
                waiting_.push_back(node);
            }
        }
        known_.learn();
        step_ = &Landmarks::next_sample;
        return {};
    }

    ClusteringOptions options_;
    std::vector<int> order_;
    std::size_t sample_size_ = 0;
    Random random_{20061};  // any seed will do; the same at every run

    Step step_ = &Landmarks::measure_sample;  // nullptr: it is over
    KnownClusters known_;
    std::vector<int> sample_;
    std::optional<Doubts> doubts_;
    std::vector<int> waiting_;  // nodes without a cluster
    NeighbourWalk walk_{0};
    std::set<int> has_tried_all_;  // of these: who has measured with a node of each cluster
    std::vector<NodePair> checked_;
    int checks_ = 0;
    int odd_pairs_ = 0;
    std::optional<Findings> before_odd_nodes_;  // were placed anew
};

}  // namespace

std::unique_ptr<Survey> survey_by_landmarks(std::span<const int> order, const ClusteringOptions& options) {
    return std::make_unique<Landmarks>(order, options);
}

}  // namespace laple
