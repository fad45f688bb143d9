// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/drift/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/logarithm.hpp"
#include "collectives/drift/link_spans.hpp"

namespace laple {
namespace {

constexpr std::size_t kMostLinks = 2;  // whose change is looked into
/// Of the changes that were seen, so much may be left unexplained: sums of squares.
constexpr double kUnexplained = 0.25;
/// Of two explanations that are as good the first one holds.
constexpr double kClearlyBetter = 0.8;

LinkSpans spans_with(const WatchedCall& call, const RateLimits& limits) {
    return predicted_spans(call.plan, call.machine, with_limits(call.measured, limits));
}

class Diagnosis {
  public:
    Diagnosis(const WatchedCall& call, std::span<const double> ratios)
        : call_(call), ratios_(ratios), expected_(spans_with(call, call.limits)) {
        for (std::size_t link = 0; link < ratios_.size(); ++link)
            seen_.push_back(ratios_[link] * expected_.all()[link]);
        consider_recovery();
        for (const auto& [from, to] : most_changed()) consider_slower(from, to);
        simulate_supposed();
    }

    std::optional<RateLimits> best() const {
        if (const auto found = best_but_for(call_.refuted)) return found;
        if (const auto found = best_but_for(RateLimits(call_.limits.clusters()))) return found;
        if (is_faster() && !call_.limits.are_none()) return RateLimits(call_.limits.clusters());
        return std::nullopt;
    }

  private:
    struct Pair {
        int from;
        int to;
    };

    double ratio(int from, int to) const {
        return ratios_[static_cast<std::size_t>(from * call_.limits.clusters() + to)];
    }
    bool is_seen(int from, int to) const { return ratio(from, to) > 0 && expected_.seconds(from, to) > 0; }

    template <typename Do>
    void for_each_seen(Do what) const {
        for (int from = 0; from < call_.limits.clusters(); ++from) {
            for (int to = 0; to < call_.limits.clusters(); ++to) {
                if (is_seen(from, to)) what(from, to);
            }
        }
    }

    /// Until one explains nearly all: that holds then, and others would take their time on every rank.
    void simulate_supposed() {
        constexpr double kNearlyAll = 0.01;  // of what was seen is left
        const double unexplained = distance(expected_);
        for (const RateLimits& limits : supposed_) {
            distances_.push_back(distance(limits));
            if (!is_refuted(limits) && distances_.back() <= kNearlyAll * unexplained) return;
        }
    }
    bool is_refuted(const RateLimits& limits) const {
        return !call_.refuted.are_none() && limits.are_where(call_.refuted);
    }

    /// What spans are now, if predictions are right.
    double seen(int from, int to) const { return ratio(from, to) * expected_.seconds(from, to); }

    double distance(const LinkSpans& spans) const { return laple::distance(seen_, spans.all()); }

    std::optional<RateLimits> best_but_for(const RateLimits& others) const {
        const double unexplained = distance(expected_);
        double least = unexplained;
        const RateLimits* best = nullptr;
        for (std::size_t i = 0; i < distances_.size(); ++i) {
            const bool is_left_out = !others.are_none() && supposed_[i].are_where(others);
            if (is_left_out || distances_[i] >= kClearlyBetter * least) continue;
            least = distances_[i];
            best = &supposed_[i];
        }
        if (best == nullptr) return std::nullopt;
        const RateLimits found = with_best_rates(*best, least);
        return least <= kUnexplained * unexplained ? std::optional(found) : std::nullopt;
    }

    double distance(const RateLimits& limits) const { return distance(spans_with(call_, limits)); }

    /// What was carried may be less than what can be, where links are not at work all the time. `least`: the
    /// distance of `found`, then that of what is returned.
    RateLimits with_best_rates(const RateLimits& found, double& least) const {
        RateLimits best = found;
        for (const double scale : {1.15, 1.3, 1.5, 1.75}) {
            const RateLimits scaled = found.with_changed(call_.limits, scale);
            const double left = distance(scaled);
            if (left >= least) break;
            least = left;
            best = scaled;
        }
        return best;
    }

    /// Wherever something has changed.
    bool is_faster() const {
        double sum = 0;
        for_each_seen([&](int from, int to) { sum += log_alike(ratio(from, to)); });
        return sum < 0;
    }

    std::vector<Pair> most_changed() const {
        std::vector<Pair> links;
        for_each_seen([&](int from, int to) { links.push_back({from, to}); });
        const auto change = [this](const Pair& link) {
            return std::fabs(seen(link.from, link.to) - expected_.seconds(link.from, link.to));
        };
        std::stable_sort(links.begin(), links.end(),
                         [&](const Pair& a, const Pair& b) { return change(a) > change(b); });
        if (links.size() > kMostLinks) links.erase(links.begin() + kMostLinks, links.end());
        return links;
    }

    /// What went over some links, in bytes a second, while the slowest of them was at work; 0: nothing is
    /// known.
    template <typename IsOne>
    double carried(IsOne is_one) const {
        double bytes = 0;
        double seconds = 0;
        for_each_seen([&](int from, int to) {
            if (!is_one(from, to)) return;
            bytes += expected_.bytes(from, to);
            seconds = std::max(seconds, seen(from, to));
        });
        return seconds > 0 ? bytes / seconds : 0;
    }
    double carried_out_of(int cluster) const {
        return carried([&](int from, int) { return from == cluster; });
    }
    double carried_into(int cluster) const {
        return carried([&](int, int to) { return to == cluster; });
    }

    void suppose(RateLimits limits) {
        if (limits == call_.limits ||
            std::find(supposed_.begin(), supposed_.end(), limits) != supposed_.end())
            return;
        supposed_.push_back(std::move(limits));
    }

    void consider_recovery() {
        suppose(RateLimits(call_.limits.clusters()));
        for (int a = 0; a < call_.limits.clusters(); ++a) {
            RateLimits limits = call_.limits;
            limits.out[static_cast<std::size_t>(a)] = limits.in[static_cast<std::size_t>(a)] = 0;
            suppose(limits);
            for (int b = 0; b < a; ++b) {
                limits = call_.limits;
                limits.link(a, b) = limits.link(b, a) = 0;
                suppose(limits);
            }
        }
    }

    void consider_slower(int from, int to) {
        const std::size_t a = static_cast<std::size_t>(from);
        const std::size_t b = static_cast<std::size_t>(to);
        const double out = carried_out_of(from);
        const double in = carried_into(to);
        RateLimits limits = call_.limits;
        limits.out[a] = limits.in[a] = std::max(out, carried_into(from));
        suppose(limits);
        limits = call_.limits;
        limits.out[b] = limits.in[b] = std::max(in, carried_out_of(to));
        suppose(limits);
        limits = call_.limits;
        limits.out[a] = out;
        suppose(limits);
        limits = call_.limits;
        limits.in[b] = in;
        suppose(limits);
        limits = call_.limits;
        limits.link(from, to) = carried([&](int x, int y) { return x == from && y == to; });
        suppose(limits);
        limits.link(to, from) = limits.link(from, to);
        suppose(limits);
    }

    const WatchedCall& call_;
    std::span<const double> ratios_;
    LinkSpans expected_;
    std::vector<double> seen_;  // row by row
    std::vector<RateLimits> supposed_;
    std::vector<double> distances_;  // of the first of these
};

}  // namespace

std::optional<RateLimits> explain(const WatchedCall& call, std::span<const double> ratios) {
    return Diagnosis(call, ratios).best();
}

}  // namespace laple
