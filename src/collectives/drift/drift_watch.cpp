// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/drift/drift_watch.hpp"

#include <algorithm>
#include <utility>

#include "base/median.hpp"
#include "collectives/drift/link_spans.hpp"

namespace laple {
namespace {

constexpr double kNearer = 1.5;
/// What other calls leave of a link may hide that it has recovered, and MPI's own calls show nothing. After
/// so many looks, for each that a recovery must be seen, it is taken for granted; where it was none, that is
/// noticed as before.
constexpr int kLooks = 4;
/// Between spans that are told apart: one of the longest that differs by 20 %.
constexpr double kTells = 0.033;

double longest(std::span<const double> spans) {
    return spans.empty() ? 0 : *std::max_element(spans.begin(), spans.end());
}

/// 0 where one is not known.
std::vector<double> ratios_of(std::span<const double> spans, std::span<const double> others) {
    std::vector<double> ratios(spans.size());
    for (std::size_t link = 0; link < ratios.size(); ++link)
        ratios[link] = spans[link] > 0 && others[link] > 0 ? spans[link] / others[link] : 0;
    return ratios;
}

}  // namespace

DriftWatch::DriftWatch(int calls_of_reduction, Expected expected)
    : calls_of_reduction_(calls_of_reduction),
      usual_(std::move(expected.usual)),
      recovery_(std::move(expected.recovery)),
      is_limited_(expected.is_limited),
      patience_(expected.patience) {
    if (distance(usual_, recovered()) < kTells) recovery_.clear();
}

std::vector<double> DriftWatch::recovered() const {
    std::vector<double> spans(usual_.size());
    for (std::size_t link = 0; link < recovery_.size(); ++link) spans[link] = usual_[link] * recovery_[link];
    return spans;
}

DriftWatch::Due DriftWatch::next() {
    ++calls_;
    if (calls_ == kWatched + 1) return Due::begin;
    if (calls_ <= kWatched + calls_of_reduction_) return Due::nothing;
    calls_ = 1;
    return Due::end;
}

std::vector<double> DriftWatch::spans() const {
    std::vector<double> medians(mine_.empty() ? 0 : mine_.front().size());
    for (std::size_t link = 0; link < medians.size(); ++link) {
        std::vector<double> times;
        for (const auto& spans : mine_) times.push_back(spans[link]);
        medians[link] = median(times);
    }
    return medians;
}

DriftWatch::Finding DriftWatch::conclude(std::span<const double> agreed) {
    constexpr double kNew = 0.25;  // of what is usual
    mine_.clear();
    if (usual_.empty()) usual_.assign(agreed.begin(), agreed.end());
    if (ignored_ > 0) {
        --ignored_;
        usual_.assign(agreed.begin(), agreed.end());
        return {};
    }
    if (is_limited_ && ++looks_ == kLooks * patience_) return {true, false};
    // Calls that have become MPI's own tell nothing.
    if (!(longest(agreed) > 0)) return {};
    if (!(longest(usual_) > 0)) usual_.assign(agreed.begin(), agreed.end());
    if (!recovery_.empty()) {
        const bool is_near = kNearer * distance(agreed, recovered()) < distance(agreed, usual_);
        times_recovered_ = is_near ? times_recovered_ + 1 : 0;
        if (times_recovered_ == patience_) return {true, looks_ <= 2 * patience_};
        if (is_near) return {};
    }
    const double change = longest(agreed) / longest(usual_);
    if (std::max(change, 1 / change) > kChange) {
        const bool is_confirmed = suspected_ > 0 && (suspected_ > 1) == (change > 1);
        suspected_ = is_confirmed ? 0 : change;
        return is_confirmed ? Finding{false, false, ratios_of(agreed, usual_)} : Finding();
    }
    suspected_ = 0;
    for (std::size_t link = 0; link < usual_.size(); ++link)
        usual_[link] += (agreed[link] > 0 && usual_[link] > 0 ? kNew : 1) * (agreed[link] - usual_[link]);
    return {};
}

void DriftWatch::take_as_usual(std::span<const double> agreed) {
    constexpr int kMostDoublings = 8;
    usual_.assign(agreed.begin(), agreed.end());
    suspected_ = 0;
    ignored_ = 1 << std::min(unexplained_++, kMostDoublings);
}

}  // namespace laple
