// SPDX-License-Identifier: BSD-3-Clause
#include "yardstick.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/planner/planner.hpp"
#include "collectives/simulation/simulated_plan.hpp"

namespace laple::plan {
namespace {

std::string in_ms(double seconds) {
    return fmt::format("{:.6g} ms", seconds * 1e3);
}

/// When the last message has arrived.
std::string simulated(const Plan& plan, const Situation& situation, const YardstickOptions& options) {
    if (plan.is_native() || plan.request.bytes() > options.simulate_up_to) return "-";
    Seconds last{0};
    for (const SimulatedMessage& message : simulated_messages(plan, situation.machine, situation.costs))
        last = std::max(last, message.arrived);
    return in_ms(last.count());
}

/// What a plan holds besides its algorithm's name; each with a blank before it.
std::string details_of(const Plan& plan) {
    std::string text = plan.algorithm->details();
    const SendWindows& windows = plan.windows;
    if (windows.channel > 0) text += fmt::format(" window {}", windows.channel);
    if (!windows.local.empty()) text += fmt::format(" local {}", fmt::join(windows.local, " "));
    if (windows.global > 0) text += fmt::format(" global {}", windows.global);
    return text;
}

std::string line_of(const Request& request, const Situation& situation, const YardstickOptions& options) {
    const Plan plan = choose_plan(request, situation.machine, {}, situation.costs);
    return fmt::format("{} {} root {}: {}  predicted {}  simulated {} {}\n", name_of(request.collective),
                       format_bytes(request.bytes()), request.root, plan.name(),
                       in_ms(plan.predicted.count()), simulated(plan, situation, options), details_of(plan));
}

}  // namespace

std::string yardstick(const Situation& situation, const YardstickOptions& options) {
    std::string text;
    for (const Collective collective : kAllCollectives) {
        const std::vector<Bytes> sizes = row_of(collective).has_data ? options.sizes : std::vector<Bytes>{0};
        const std::vector<Rank> roots = row_of(collective).is_rooted ? options.roots : std::vector<Rank>{0};
        for (const Bytes size : sizes) {
            for (const Rank root : roots) {
                text += line_of(request_for(collective, size, root), situation, options);
            }
        }
    }
    return text;
}

}  // namespace laple::plan
