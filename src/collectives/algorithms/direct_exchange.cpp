// SPDX-License-Identifier: BSD-3-Clause
// Allreduce or barrier in which each leader sends to all others, and all evaluate the same expression
// p0 ∘ (p1 ∘ (p2 ∘ ...)): one latency, the same bits everywhere. A linear all-to-all between leaders.
//
//     direct-exchange/binomial      clusters reduce, leaders exchange, clusters broadcast
//     direct-exchange/flat@8Kx4     the same in 4 lanes: a quarter of the message has its own leaders
//
// (MagPIe, PPoPP'99; in lanes GridMPI's latency-aware allreduce: docs/algorithms.md)
#include <algorithm>
#include <utility>

#include "collectives/algorithms/phase_price.hpp"
#include "collectives/algorithms/registry.hpp"

namespace laple {
namespace {

constexpr std::string_view kName = "direct-exchange";

class DirectExchange final : public PhaseAlgorithm {
  public:
    using PhaseAlgorithm::PhaseAlgorithm;
    std::string in_words() const override {
        return "clusters combine inside, their leaders send to each other, clusters spread the result";
    }
    std::optional<Candidate> price(Pricing& pricing) const override {
        const auto others = static_cast<double>(pricing.machine().groups().size()) - 1;
        return phase_price(pricing, std::make_shared<DirectExchange>(parameters()), parameters(),
                           LeadersTalk::all_at_once, others);
    }

  protected:
    std::string_view keyword() const override { return kName; }
    std::unique_ptr<LeaderSteps> leader_steps(LeaderPlace place, ReceiveSlots& slots,
                                              ScheduleBuilder& builder) const override {
        return std::make_unique<DirectExchangeSteps>(std::move(place), slots, builder);
    }
};

AlgorithmPtr parse(const AlgorithmName& name, Collective) {
    const auto parameters = parse_phase(name, kName);
    return parameters ? std::make_shared<DirectExchange>(*parameters) : nullptr;
}

void propose(Pricing& pricing, std::vector<Candidate>& found) {
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
        // 2, 4, 8 ... and as many as there are hosts, or are usual: then each leads.
        for (int lanes = 2; lanes <= most; lanes = lanes < most ? std::min(2 * lanes, most) : most + 1) {
            add(kFlatShape, segment_bytes, lanes);
            const auto last = found.end() - 1;
            if (lanes > 2 && last->seconds > (last - 1)->seconds) break;
        }
    }
}

}  // namespace

Family direct_exchange_family() {
    return {kName,
            "direct-exchange/LEVEL/...[@SEGMENT][xLANES]",
            "leaders of clusters send to each other, all at once",
            "MagPIe, PPoPP'99",
            is_for_phases,
            parse,
            propose,
            nullptr};
}

}  // namespace laple
