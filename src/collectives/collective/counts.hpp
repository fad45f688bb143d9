// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace laple {

/// How many units each rank contributes to a message that is gathered, where these differ (MPI_Allgatherv):
/// blocks that follow each other in the order of ranks. Equal on all ranks of the communicator.
class Counts {
  public:
    /// All ranks contribute the same.
    Counts() = default;
    /// Rank i contributes `units`[i]; any of them may be 0.
    explicit Counts(std::span<const std::uint64_t> units) : begins_{0} {
        begins_.reserve(units.size() + 1);
        for (const std::uint64_t of_rank : units) begins_.push_back(begins_.back() + of_rank);
    }

    bool are_equal() const { return begins_.empty(); }
    /// Where the block of `rank` begins; of the number of ranks: where the last one ends. Not of equal
    /// counts.
    std::uint64_t begin_of(Rank rank) const { return begins_[static_cast<std::size_t>(rank)]; }
    /// begin_of() 0, 1, ...; empty where they are equal.
    std::span<const std::uint64_t> begins() const { return begins_; }

    bool operator==(const Counts&) const = default;

  private:
    std::vector<std::uint64_t> begins_;
};

}  // namespace laple
