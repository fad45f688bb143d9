// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/algorithms/phase.hpp"

namespace laple {

/// Each leader sends to all others, and all evaluate the same expression p0 ∘ (p1 ∘ (p2 ∘ ...)): one latency,
/// the same bits everywhere. A linear all-to-all between leaders.
///
///     direct-exchange/binomial      clusters reduce, leaders exchange, clusters broadcast
///     direct-exchange/flat@8Kx4     the same in 4 lanes: a quarter of the message has its own leaders
///
/// (MagPIe, PPoPP'99; in lanes GridMPI's latency-aware allreduce: docs/algorithms.md)
class DirectExchange final : public PhaseAlgorithm {
  public:
    using PhaseAlgorithm::PhaseAlgorithm;
    std::string in_words() const override {
        return "clusters combine inside, their leaders send to each other, clusters spread the result";
    }
    std::optional<Candidate> price(Pricing& pricing) const override;

  protected:
    std::string_view keyword() const override { return "direct-exchange"; }
    std::unique_ptr<LeaderSteps> leader_steps(const Leaders& leaders, std::size_t self, int lane,
                                              ReceiveSlots& slots, ScheduleBuilder& builder) const override;
};

/// The leaders' part in it.
class DirectExchangeSteps final : public LeaderSteps {
  public:
    using LeaderSteps::LeaderSteps;
    void combine(std::uint32_t number, Region partial, Region result) override;
};

// What the registry has of this family.

AlgorithmPtr parse_direct_exchange(const AlgorithmName& name, Collective collective);
void propose_direct_exchange(Pricing& pricing, std::vector<Candidate>& found);

}  // namespace laple
