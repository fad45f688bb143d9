// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/trial_summary.hpp"

#include <fmt/format.h>

namespace laple {

void TrialSummary::add(const std::vector<Plan>& plans, const Trials& trials) {
    calls_ += trials.spent();
    if (trials.cost() <= Seconds(0)) return;
    cost_ += trials.cost();
    const auto times_of = [&](std::size_t plan) {
        return PlanTimes{plans[plan].name(), trials.predicted(plan), trials.measured(plan)};
    };
    const Request& request = plans.front().request;
    const Rank root = row_of(request.collective).is_rooted ? request.root : 0;
    add(Kind{request.collective, request.bytes(), root},
        Finding{times_of(0), times_of(trials.best()), trials.best() != trials.plan_of_calls(),
                trials.spent()});
}

void TrialSummary::add(const TrialSummary& other) {
    for (const auto& [kind, finding] : other.findings_) add(kind, finding);
    cost_ += other.cost_;
    calls_ += other.calls_;
    add_changes_of_links(other.changes_of_links_, other.watching_);
}

void TrialSummary::add_changes_of_links(int changes, Seconds cost) {
    changes_of_links_ += changes;
    watching_ += cost;
}

void TrialSummary::add(const Kind& kind, const Finding& finding) {
    const auto [known, is_new] = findings_.try_emplace(kind, finding);
    if (!is_new && known->second.calls < finding.calls) known->second = finding;
}

std::string TrialSummary::line(const Kind& kind, const Finding& finding) const {
    const auto& [collective, bytes, root] = kind;
    const auto time = [](Seconds value) { return value > Seconds(0) ? format_seconds(value) : "-"; };
    const auto row = [&](const std::string& name, const std::string& size, const PlanTimes& plan,
                         const char* remark) {
        return fmt::format("{:<20} {:>10}  {:<28} {:>10} {:>10}{}\n", name, size, plan.algorithm,
                           time(plan.predicted), time(plan.measured), remark);
    };
    const std::string name =
        std::string(name_of(collective)) + (root != 0 ? fmt::format(", root {}", root) : std::string());
    const bool is_changed = finding.best.algorithm != finding.planned.algorithm;
    const char* const remark = is_changed                              ? ""
                               : finding.planned.measured > Seconds(0) ? "  kept"
                                                                       : "  not decided yet";
    std::string text = row(name, format_bytes(bytes), finding.planned, remark);
    if (is_changed)
        text +=
            row("", "", finding.best, finding.is_for_later ? "  faster: for the next job" : "  faster: used");
    return text;
}

std::string TrialSummary::text() const {
    std::string text;
    if (changes_of_links_ > 0)
        text = fmt::format(
            "Links between clusters changed their rates: plans were made anew {} times. Watching "
            "them took {}.\n",
            changes_of_links_, format_seconds(watching_));
    if (cost_ <= Seconds(0)) return text;
    text += fmt::format("Trials of other plans took {}, {:.1f} % of the time of such calls.\n",
                        format_seconds(cost_), 100 * (cost_ / calls_));
    text += fmt::format("{:<20} {:>10}  {:<28} {:>10} {:>10}\n", "tried", "bytes about", "planned, and best",
                        "predicted", "measured");
    for (const auto& [kind, finding] : findings_) text += line(kind, finding);
    return text;
}

}  // namespace laple
