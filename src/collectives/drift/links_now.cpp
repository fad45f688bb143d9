// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/drift/links_now.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/median.hpp"
#include "collectives/drift/diagnosis.hpp"
#include "collectives/drift/link_spans.hpp"
#include "collectives/planner/planner.hpp"

namespace laple {
namespace {

/// Link by link; where one is not known, the median of the others.
std::vector<double> quotients(const std::vector<double>& spans, const std::vector<double>& others) {
    const auto is_known = [&](std::size_t link) { return spans[link] > 0 && others[link] > 0; };
    std::vector<double> known;
    for (std::size_t link = 0; link < spans.size(); ++link) {
        if (is_known(link)) known.push_back(spans[link] / others[link]);
    }
    std::vector<double> all(spans.size(), median(known));
    for (std::size_t link = 0; link < spans.size(); ++link) {
        if (is_known(link)) all[link] = spans[link] / others[link];
    }
    return all;
}

/// Ratios of those links only that carry less than they are known to: where receivers have been late, what
/// was there already came at once, and takes its time again when they are not. Empty: nothing has changed.
std::vector<double> without_the_usual(std::vector<double> ratios, const std::vector<double>& usual,
                                      const std::vector<double>& predicted) {
    bool have_changed = false;
    for (std::size_t link = 0; link < ratios.size(); ++link) {
        const bool is_slower = ratios[link] > DriftWatch::kChange;
        if (is_slower && ratios[link] * usual[link] <= DriftWatch::kChange * predicted[link])
            ratios[link] = 1;
        const double change = ratios[link];
        have_changed |= change > 0 && std::max(change, 1 / change) > DriftWatch::kChange;
    }
    return have_changed ? ratios : std::vector<double>();
}

}  // namespace

DriftWatch::Expected LinksNow::expected_spans(const Plan& plan) const {
    DriftWatch::Expected expected;
    expected.is_limited = !are_as_measured();
    // A recovery that was none must not be believed again and again.
    if (expected.is_limited) expected.patience = 2 << std::min(recoveries_, 6);
    if (seen_by_predicted_.empty() || plan.is_native()) return expected;
    try {
        const std::vector<double> predicted = predicted_spans(plan, machine_, costs()).all();
        expected.usual = predicted;
        for (std::size_t link = 0; link < predicted.size(); ++link)
            expected.usual[link] *= seen_by_predicted_[link];
        if (expected.is_limited)
            expected.recovery = quotients(predicted_spans(plan, machine_, measured_).all(), predicted);
    } catch (const Error&) {
        expected.usual.clear();  // it cannot be simulated
    }
    return expected;
}

bool LinksNow::learn(const Plan& plan, const DriftWatch::Finding& finding,
                     const std::vector<double>& usual) try {
    if (finding.have_recovered) {
        ++recoveries_;
        refuted_ = finding.is_at_once ? limits_ : RateLimits(limits_.clusters());
        set(RateLimits(limits_.clusters()));
        return true;
    }
    const std::vector<double> predicted = predicted_spans(plan, machine_, costs()).all();
    const std::vector<double> ratios = without_the_usual(finding.ratios, usual, predicted);
    if (ratios.empty()) return false;
    const auto found = explain({plan, machine_, measured_, limits_, refuted_}, ratios);
    if (!found) return false;
    seen_by_predicted_ = quotients(usual, predicted);
    set(*found);
    return true;
} catch (const Error&) {
    return false;
}

void LinksNow::set(const RateLimits& limits) {
    limits_ = limits;
    limited_ = with_limits(measured_, limits);
}

void put_former_first(Plan former, std::vector<Plan>& plans) {
    constexpr double kClearly = 0.9;
    if (kClearly * former.predicted > plans.front().predicted) return;
    former.reason = "used before, and not predicted to be clearly slower";
    std::erase_if(plans, [&](const Plan& plan) { return plan.name() == former.name(); });
    plans.insert(plans.begin(), std::move(former));
    if (plans.size() > kMostToTry) plans.erase(plans.end() - (plans.back().is_native() ? 2 : 1));
}

void make_watchable(std::vector<Plan>& plans) {
    constexpr double kHardly = 1.25;
    constexpr double kFaster = 1.75;  // than links are thought to be
    for (Plan& plan : plans) {
        for (double& pace : plan.windows.pace) pace /= kFaster;
    }
    if (!plans.front().is_native()) return;
    const auto other = std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) {
        return !plan.is_native() && plan.predicted <= kHardly * plans.front().predicted;
    });
    if (other != plans.end()) std::rotate(plans.begin(), other, other + 1);
}

std::string describe(const RateLimits& limits) {
    std::string text;
    const auto add = [&](const std::string& what, double rate) {
        if (rate > 0) text += fmt::format("{}{} {:.3g} MB/s", text.empty() ? "" : ", ", what, rate / 1e6);
    };
    for (int a = 0; a < limits.clusters(); ++a) {
        add(fmt::format("from cluster {} at most", a), limits.out[at(a)]);
        add(fmt::format("to cluster {} at most", a), limits.in[at(a)]);
        for (int b = 0; b < limits.clusters(); ++b)
            add(fmt::format("from cluster {} to cluster {} at most", a, b), limits.link(a, b));
    }
    return text.empty() ? "they are as they were measured" : text;
}

}  // namespace laple
