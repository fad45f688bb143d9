// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/algorithms/phase.hpp"

namespace laple {

/// In round r, leaders whose numbers differ in bit r swap what they have, and both evaluate low ∘ high: log2
/// C latencies. Where their number is no power of two, the first ones fold in pairs before and unfold after.
///
///     recursive-doubling/binomial
///
/// (Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", 2005)
class RecursiveDoubling final : public PhaseAlgorithm {
  public:
    using PhaseAlgorithm::PhaseAlgorithm;
    std::string in_words() const override {
        return "clusters combine inside, their leaders swap in rounds, clusters spread the result";
    }
    std::optional<Candidate> price(Pricing& pricing) const override;

  protected:
    std::string_view keyword() const override { return "recursive-doubling"; }
    std::unique_ptr<LeaderSteps> leader_steps(const Leaders& leaders, std::size_t self, int lane,
                                              ReceiveSlots& slots, ScheduleBuilder& builder) const override;
};

// What the registry has of this family.

AlgorithmPtr parse_recursive_doubling(const AlgorithmName& name, Collective collective);
void propose_recursive_doubling(Pricing& pricing, std::vector<Candidate>& found);

}  // namespace laple
