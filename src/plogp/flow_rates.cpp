// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <utility>

#include "plogp/flow_survey.hpp"

namespace laple {
namespace {

constexpr Bytes kLargestMessage = 16 * 1024;  // of a flow
constexpr Bytes kSmallestMessage = 1024;
constexpr double kWindows = 4;  // round trips' worth of data under way in a flow
constexpr Bytes kMostWindow = 16 * 1024 * 1024;
constexpr Seconds kShortestFlow = std::chrono::milliseconds(150);
constexpr Seconds kNoFlowIsShorter = std::chrono::milliseconds(1);
constexpr double kMessagesOfFlow = 400;  // in all, where nothing disturbs
constexpr double kFlowTrips = 12;        // round trips that flows last: TCP may find its rate in half of them
// Rates that grow by less have settled: that of a lone flow is steady, lanes that fill an uplink disturb each
// other.
constexpr double kSettledAlone = 0.08;
constexpr double kSettled = 0.15;
constexpr int kMostTrialsAlone = 5;
constexpr int kMostTrials = 3;

/// As large as the segments of a pipeline, but without a handshake where that takes long.
Bytes message_of_flow(const Plogp& plogp) {
    Bytes bytes = kLargestMessage;
    while (plogp.latency >= kFarLink && bytes > kSmallestMessage &&
           plogp.send_overhead.at(bytes) > plogp.latency)
        bytes /= 4;
    return bytes;
}

}  // namespace

FlowOptions flow_options(const Plogp& plogp, Seconds one_way, bool is_undisturbed) {
    FlowOptions options;
    options.message_bytes = message_of_flow(plogp);
    const Seconds shortest = is_undisturbed && !plogp.gap.is_empty()
                                 ? kMessagesOfFlow * plogp.gap.at(options.message_bytes)
                                 : kShortestFlow;
    options.duration = std::max({shortest, 2 * kFlowTrips * one_way, kNoFlowIsShorter});
    options.window_bytes = is_undisturbed ? kLeastUnderWay * options.message_bytes : kLeastFlowWindow;
    if (plogp.gap.is_empty() || plogp.gap.known().rbegin()->second <= Seconds(0)) return options;
    const auto& [bytes, gap] = *plogp.gap.known().rbegin();
    const double windows = is_undisturbed ? kWindows / 2 : kWindows;
    const double in_flight = windows * 2 * one_way / gap * static_cast<double>(bytes);
    options.window_bytes = static_cast<Bytes>(
        std::clamp(in_flight, static_cast<double>(options.window_bytes), static_cast<double>(kMostWindow)));
    return options;
}

FlowOptions larger(const FlowOptions& a, const FlowOptions& b) {
    return {std::max(a.message_bytes, b.message_bytes), std::max(a.window_bytes, b.window_bytes),
            std::max(a.duration, b.duration)};
}

std::vector<double> settled_rates(LinkProbes& probes, const std::vector<Flow>& flows, FlowOptions options,
                                  Sharing sharing) {
    const double settled = sharing == Sharing::none ? kSettledAlone : kSettled;
    const int most_trials = sharing == Sharing::none ? kMostTrialsAlone : kMostTrials;
    std::vector<double> best;
    double best_sum = -1;
    bool is_best_lossy = false;
    for (int trial = 1;; ++trial) {
        const auto measured = probes.rates(flows, options);
        double early = 0;
        double late = 0;
        for (const FlowRate& rate : measured) {
            early += rate.early;
            late += rate.late;
        }
        const bool has_lost = sharing == Sharing::uplink && late < (1 - settled) * early;
        if (has_lost) late = early;
        std::vector<double> rates;
        for (const FlowRate& rate : measured)
            rates.push_back(has_lost ? rate.early : (rate.early + rate.late) / 2);
        const bool is_better = is_best_lossy == has_lost ? early + late > best_sum : is_best_lossy;
        if (best.empty() || is_better) {
            best_sum = early + late;
            best = std::move(rates);
            is_best_lossy = has_lost;
        }
        const bool has_settled = !has_lost && late <= (1 + settled) * early;
        if (has_settled || trial == most_trials) return best;
        const Bytes least = std::min(options.window_bytes, kLeastFlowWindow / 2);
        if (has_lost) options.window_bytes = std::max(options.window_bytes / 2, least);
    }
}

double sum_of_rates(LinkProbes& probes, const std::vector<Flow>& flows, const FlowOptions& options,
                    Sharing sharing) {
    const auto rates = settled_rates(probes, flows, options, sharing);
    return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace laple
