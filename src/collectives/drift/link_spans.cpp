// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/drift/link_spans.hpp"

#include <algorithm>
#include <map>

#include "base/logarithm.hpp"
#include "collectives/simulation/simulated_plan.hpp"

namespace laple {

void LinkSpans::add(std::span<const Arrival> arrivals, Rank me, const Machine& machine) {
    struct Flow {
        std::size_t count = 0;
        double first = 0;
        double last = 0;
        double bytes = 0;
        double first_bytes = 0;
    };
    std::map<Rank, Flow> flows;
    const int here = machine.cluster_of_rank(me);
    for (const Arrival& arrival : arrivals) {
        if (machine.cluster_of_rank(arrival.from) == here) continue;
        Flow& flow = flows[arrival.from];
        const double time = arrival.time.count();
        const auto bytes = static_cast<double>(arrival.bytes);
        if (flow.count == 0 || time < flow.first) {
            flow.first = time;
            flow.first_bytes = bytes;
        }
        flow.last = std::max(flow.last, time);
        flow.bytes += bytes;
        ++flow.count;
    }
    for (const auto& [from, flow] : flows) {
        if (flow.count < kLeast) continue;
        const std::size_t link = at(machine.cluster_of_rank(from), here);
        seconds_[link] = std::max(seconds_[link], flow.last - flow.first);
        bytes_[link] += flow.bytes - flow.first_bytes;
    }
}

double distance(std::span<const double> seen, std::span<const double> spans) {
    const double longest = seen.empty() ? 0 : *std::max_element(seen.begin(), seen.end());
    double sum = 0;
    for (std::size_t link = 0; link < seen.size(); ++link) {
        if (seen[link] <= 0 || spans[link] <= 0) continue;
        const double left = log_alike(seen[link] / spans[link]);
        sum += seen[link] / longest * left * left;
    }
    return sum;
}

LinkSpans spans_of(std::span<const SimulatedMessage> messages, const Machine& machine) {
    std::vector<std::vector<LinkSpans::Arrival>> arrivals(static_cast<std::size_t>(machine.rank_count()));
    for (const SimulatedMessage& message : messages)
        arrivals[static_cast<std::size_t>(message.to)].push_back(
            {message.from, message.bytes, message.arrived});
    LinkSpans spans(machine.cluster_count());
    for (Rank rank = 0; rank < machine.rank_count(); ++rank)
        spans.add(arrivals[static_cast<std::size_t>(rank)], rank, machine);
    return spans;
}

LinkSpans predicted_spans(const Plan& plan, const Machine& machine, const MachineCosts& costs) {
    return spans_of(simulated_messages(plan, machine, costs), machine);
}

}  // namespace laple
