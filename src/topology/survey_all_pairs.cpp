// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <vector>

#include "base/index.hpp"
#include "topology/doubts.hpp"
#include "topology/survey.hpp"
#include "topology/typical_pair.hpp"

namespace laple {
namespace {

class AllPairs final : public Survey {
  public:
    AllPairs(int nodes, Clustering kind, const ClusteringOptions& options)
        : kind_(kind), options_(options), matrix_(nodes), doubts_(options) {}

    std::vector<ProbeRound> next() override {
        if (looks_++ == 0) return rounds_of_all(all_below(at(matrix_.nodes())));
        return rounds_of(doubts_.next(matrix_));
    }

    void add(const PairLatency& measured) override {
        const auto [a, b] = measured.pair;
        const Seconds before = matrix_.at(a, b);
        if (before == Seconds(0) || measured.latency < before) matrix_.set(a, b, measured.latency);
    }

    Findings findings() const override {
        Findings found;
        found.clusters = kind_ == Clustering::plain_eco
                             ? eco_clusters(matrix_, options_.tolerance)
                             : split_where_far(matrix_, cluster_nodes(matrix_, options_));
        found.between = quotient(matrix_, found.clusters);
        for (const auto& cluster : found.clusters) found.inside.push_back(median_latency(matrix_, cluster));
        found.typical = typical_pairs(matrix_, found.clusters);
        found.matrix = matrix_;
        found.pairs = matrix_.nodes() * (matrix_.nodes() - 1) / 2;
        return found;
    }

    bool is_usable() const override { return looks_ > 1; }

  private:
    Clustering kind_;
    ClusteringOptions options_;
    LatencyMatrix matrix_;
    Doubts doubts_;
    int looks_ = 0;
};

}  // namespace

std::unique_ptr<Survey> survey_all_pairs(int nodes, Clustering kind, const ClusteringOptions& options) {
    return std::make_unique<AllPairs>(nodes, kind, options);
}

std::unique_ptr<Survey> survey_sites(std::span<const int> order, const ClusteringOptions& options) {
    const int nodes = static_cast<int>(order.size());
    return nodes < kManyNodes ? survey_all_pairs(nodes, Clustering::sites, options)
                              : survey_by_landmarks(order, options);
}

}  // namespace laple
