// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace laple {

enum class Collective : std::uint8_t;

/// How many units each rank contributes to a message that is gathered (MPI_Allgatherv), or gets of one that
/// is combined (MPI_Reduce_scatter), where these differ: blocks that follow each other in the order of ranks.
/// Equal on all ranks of the communicator.
class Counts {
  public:
    /// All ranks have the same.
    Counts() = default;
    /// Rank i has `units`[i]; any of them may be 0.
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

/// What a call asks for: all that a plan may depend on, and equal on all ranks of the communicator.
struct Request {
    Collective collective{};
    /// Of the message, or of each rank's block where it is gathered or combined in parts (at most, where
    /// `counts` differ): bytes, or elements of the user's datatype where contributions are combined, so that
    /// an operation never sees a part of an element. A barrier's message is one unit of no bytes.
    std::uint64_t units = 0;
    Bytes unit_bytes = 1;
    Rank root = 0;                ///< of rooted collectives; 0 otherwise
    bool commutative = true;      ///< of the operation; true where there is none
    bool rounds = false;          ///< the operation's result depends on the order of combining
    bool in_fixed_order = false;  ///< combine as one tree over the ranks does, whatever the machine

    Counts counts = {};  ///< of a message that is gathered, or combined in parts

    /// Of blocks of which each has a size of its own, that its two ends know and no other rank does
    /// (MPI_Alltoallv): `units` are those of a usual one. What a plan says holds for blocks of any size.
    bool is_varied = false;

    Bytes bytes() const { return units * unit_bytes; }
    /// Of such a message: where the block of `rank` begins in it, and of the number of ranks, its end.
    std::uint64_t block_begin(Rank rank) const {
        return counts.are_equal() ? static_cast<std::uint64_t>(rank) * units : counts.begin_of(rank);
    }
    std::uint64_t block_units(Rank rank) const {
        return counts.are_equal() ? units : counts.begin_of(rank + 1) - counts.begin_of(rank);
    }
    bool operator==(const Request&) const = default;
};

}  // namespace laple
