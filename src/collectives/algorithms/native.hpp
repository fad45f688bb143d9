// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/algorithms/algorithm.hpp"

namespace laple {

struct AlgorithmName;

/// MPI's own collective. It can do everything, and is a candidate for every call; its price is what was
/// measured, where it was.
class Native final : public Algorithm {
  public:
    std::string name() const override;
    std::string in_words() const override { return "MPI's own algorithm"; }
    bool is_native() const override { return true; }
    bool can_do(const Request&, const Machine&) const override { return true; }
    std::optional<Candidate> price(Pricing& pricing) const override;
    /// Never called: there are no steps.
    void write_steps(const Part&, ScheduleBuilder&) const override {}
};

/// The one that there is.
const AlgorithmPtr& native();

// What the registry has of this family.

AlgorithmPtr parse_native(const AlgorithmName& name, Collective collective);
void propose_native(Pricing& pricing, std::vector<Candidate>& found);

}  // namespace laple
