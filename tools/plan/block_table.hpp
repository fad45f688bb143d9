// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective/collective.hpp"

namespace laple::plan {

/// The bytes of each block of a call that has a count for each rank.
struct BlockTable {
    int ranks = 0;
    /// Of an all-to-all, from rank i to rank j: bytes[i * ranks + j]. Else of rank i: bytes[i].
    std::vector<Bytes> bytes;

    Bytes from_to(Rank from, Rank to) const {
        return bytes[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) +
                     static_cast<std::size_t>(to)];
    }
};

/// The collective that "alltoallv", "alltoallw", "allgatherv", "gatherv", "scatterv" or "reduce_scatter" is
/// planned as; nothing where no rank has a count of its own.
std::optional<Collective> collective_with_counts(std::string_view name);

/// A file of numbers of bytes, such as 8 or 64K, between white space; "#" begins a comment. One for each
/// rank, or of an all-to-all a line for each rank that sends, with one number for each that gets. Throws
/// Error, with the line, for anything else.
BlockTable parse_block_table(const std::string& text, const std::string& file, Collective collective,
                             int ranks);

/// Puts the counts into a request whose blocks are gathered, or combined in parts: elements of 8 bytes where
/// data are combined, as in request_for().
void add_counts(const BlockTable& table, Request& request);

}  // namespace laple::plan
