// SPDX-License-Identifier: BSD-3-Clause
#include "yardstick.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/planner.hpp"
#include "explain.hpp"
#include "timeline.hpp"

namespace laple::plan {
namespace {

std::string in_ms(double seconds) {
    return fmt::format("{:.6g} ms", seconds * 1e3);
}

/// When the last message has arrived.
std::string simulated(const Plan& plan, const Situation& situation, const YardstickOptions& options) {
    if (plan.algorithm.is_native || plan.request.bytes() > options.simulate_up_to) return "-";
    Seconds last{0};
    for (const SimulatedMessage& message : messages_of(plan, situation)) last = std::max(last, message.arrived);
    return in_ms(last.count());
}

/// What a plan holds besides its algorithm; each with a blank before it.
std::string details_of(const Plan& plan) {
    std::string text;
    if (!plan.order.empty()) {
        text += " order";
        for (const Send& send : plan.order) text += fmt::format(" {}>{}", send.from, send.to);
    }
    if (!plan.shares.empty()) text += fmt::format(" shares {}", fmt::join(plan.shares, " "));
    for (const auto& region : plan.regions) text += fmt::format(" region {}", fmt::join(region, " "));
    if (!plan.relays.empty()) text += fmt::format(" relays {}", fmt::join(plan.relays, " "));
    if (plan.window_bytes > 0) text += fmt::format(" window {}", plan.window_bytes);
    if (!plan.pace_bytes.empty()) text += fmt::format(" pace {}", fmt::join(plan.pace_bytes, " "));
    if (plan.lead_bytes > 0) text += fmt::format(" lead {}", plan.lead_bytes);
    return text;
}

std::string line_of(const Request& request, const Situation& situation, const YardstickOptions& options) {
    const Plan plan = choose_plan(request, situation.topology, {}, situation.costs);
    return fmt::format("{} {} root {}: {}  predicted {}  simulated {} {}\n", name_of(request.collective),
                       format_bytes(request.bytes()), request.root, name_of(plan.algorithm),
                       in_ms(plan.predicted.count()), simulated(plan, situation, options), details_of(plan));
}

}  // namespace

std::string yardstick(const Situation& situation, const YardstickOptions& options) {
    std::string text;
    for (const Collective collective : kAllCollectives) {
        const std::vector<Bytes> sizes =
            collective == Collective::barrier ? std::vector<Bytes>{0} : options.sizes;
        const std::vector<Rank> roots = is_rooted(collective) ? options.roots : std::vector<Rank>{0};
        for (const Bytes size : sizes) {
            for (const Rank root : roots) {
                const Request request = request_named(std::string(name_of(collective)), size, root,
                                                      situation.topology.size());
                text += line_of(request, situation, options);
            }
        }
    }
    return text;
}

}  // namespace laple::plan
