// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/direct_exchange.hpp"

#include <algorithm>

#include "collectives/algorithms/phase_price.hpp"

namespace laple {

void DirectExchangeSteps::combine(std::uint32_t, Region partial, Region result) {
    const std::size_t count = leaders_.size();
    // Each starts with its right neighbour, so that not all send to the same leader first.
    for (std::size_t i = 1; i < count; ++i)
        builder_.send(leaders_[(self_ + i) % count], partial, contributions(lane_));
    add_up(partial, result);
}

std::unique_ptr<LeaderSteps> DirectExchange::leader_steps(const Leaders& leaders, std::size_t self, int lane,
                                                          ReceiveSlots& slots,
                                                          ScheduleBuilder& builder) const {
    return std::make_unique<DirectExchangeSteps>(leaders, self, lane, slots, builder);
}

std::optional<Candidate> DirectExchange::price(Pricing& pricing) const {
    if (parameters().native_within || pricing.clusters() == 1) return std::nullopt;
    const auto& groups = pricing.machine().groups();
    const PhaseTime time =
        phase_time(parameters(), LeadersTalk::all_at_once, pricing.segments(segment_bytes()),
                   {groups, pricing.times(segment_bytes(), SegmentTimes::Direction::reduction),
                    pricing.times(segment_bytes(), SegmentTimes::Direction::broadcast)},
                   pricing.pricer());
    const int others = static_cast<int>(groups.size()) - 1;
    std::vector<ClusterBurst> bursts;
    for (const auto& group : groups) bursts.push_back({group.front(), static_cast<double>(others)});
    return phase_candidate(pricing, std::make_shared<DirectExchange>(parameters()), parameters().within, time,
                           bursts, others);
}

AlgorithmPtr parse_direct_exchange(const AlgorithmName& name, Collective) {
    const auto parameters = parse_phase(name, "direct-exchange");
    return parameters ? std::make_shared<DirectExchange>(*parameters) : nullptr;
}

void propose_direct_exchange(Pricing& pricing, std::vector<Candidate>& found) {
    if (pricing.clusters() == 1) return;
    const auto add = [&](Shape within, Bytes segment_bytes, int lanes) {
        const DirectExchange algorithm({{}, within, false, segment_bytes, lanes});
        found.push_back(*algorithm.price(pricing));
    };
    add(pricing.best_local(), 0, 1);
    if (pricing.request().bytes() < kLeastToCut) return;
    const int most = std::min(pricing.largest_cluster(), kUsualLanes);
    for (const Bytes segment_bytes : pricing.segment_sizes()) {
        for (const Shape within : {kChainShape, kBinaryShape}) add(within, segment_bytes, 1);
        if (pricing.is_coarse(segment_bytes) || pricing.machine().has_groups()) continue;
        for (int lanes = 2; lanes <= most; lanes *= 2) {
            add(kFlatShape, segment_bytes, lanes);
            const auto last = found.end() - 1;
            if (lanes > 2 && last->seconds > (last - 1)->seconds) break;
        }
    }
}

}  // namespace laple
