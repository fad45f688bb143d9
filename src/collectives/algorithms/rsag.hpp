// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "collectives/algorithms/phase.hpp"

namespace laple {

/// Reduce-scatter and allgather of the leaders, each directly: every segment has an owner among them, who
/// gets the partial results of all others, evaluates the same expression and sends the result back. Two
/// latencies, but each link carries a segment twice at most, where it carries it C-1 times in a direct
/// exchange.
///
///     rsag/flat@8Kx4      in 4 lanes
///
/// A reduction is the first half of it: owners send the results to the root alone, who owns nothing. Between
/// hosts that are far from each other, or all of one cluster, that is two latencies, and as much in every NIC
/// as in a chain.
///
/// (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009, for the
/// volume; between leaders GridMPI's latency-aware allreduce: docs/algorithms.md)
class Rsag final : public PhaseAlgorithm {
  public:
    /// `shares`: how much of the message the leaders of each group sum up; empty: all alike.
    Rsag(PhaseParameters parameters, std::vector<int> shares)
        : PhaseAlgorithm(std::move(parameters)), shares_(std::move(shares)) {}

    std::string details() const override;
    std::string in_words() const override {
        return "clusters combine inside, their leaders share the summing up, clusters spread the result";
    }
    std::optional<Candidate> price(Pricing& pricing) const override;

  protected:
    std::string_view keyword() const override { return "rsag"; }
    std::unique_ptr<LeaderSteps> leader_steps(LeaderPlace place, ReceiveSlots& slots,
                                              ScheduleBuilder& builder) const override;
    std::size_t turn(std::size_t groups) const override;

  private:
    std::optional<Candidate> price_among_hosts(Pricing& pricing) const;
    std::optional<Candidate> price_to_root(Pricing& pricing) const;

    std::vector<int> shares_;
};

// What the registry has of this family.

bool is_for_rsag(Collective collective);
AlgorithmPtr parse_rsag(const AlgorithmName& name, Collective collective);
void propose_rsag(Pricing& pricing, std::vector<Candidate>& found);

}  // namespace laple
