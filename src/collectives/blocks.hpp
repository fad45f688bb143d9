// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.hpp"

namespace laple {

/// How a message is cut into the blocks that a schedule moves.
///
/// A message is `units` units of `unit_bytes` each: bytes for a broadcast, whole elements of the user's
/// datatype for a reduction, so that an operation never sees a part of an element. All blocks hold
/// `units_per_block` units, the last one what is left. An empty message is one empty block: its transfer
/// still synchronises.
struct Blocks {
    std::uint64_t units = 0;
    Bytes unit_bytes = 1;
    std::uint64_t units_per_block = 1;

    /// A message is never cut into more blocks than this: a schedule must fit into memory.
    static constexpr std::uint64_t kMaxBlocks = 1u << 16;

    /// Cuts into blocks of at most `segment_bytes` (at least one unit each, and more where there would be
    /// more than kMaxBlocks); 0 means one block.
    static Blocks cut(std::uint64_t units, Bytes unit_bytes, Bytes segment_bytes) {
        const std::uint64_t whole = std::max<std::uint64_t>(units, 1);
        if (segment_bytes == 0) return {units, unit_bytes, whole};
        const std::uint64_t fewest = (whole + kMaxBlocks - 1) / kMaxBlocks;
        const std::uint64_t per_block = std::max(segment_bytes / std::max<Bytes>(unit_bytes, 1), fewest);
        return {units, unit_bytes, std::min(per_block, whole)};
    }

    std::uint32_t count() const {
        return units == 0 ? 1 : static_cast<std::uint32_t>((units + units_per_block - 1) / units_per_block);
    }
    std::uint64_t first_unit(std::uint32_t block) const { return block * units_per_block; }
    /// In a run of `run` consecutive blocks.
    std::uint64_t units_in(std::uint32_t block, std::uint32_t run = 1) const {
        return std::min(run * units_per_block, units - std::min(units, first_unit(block)));
    }
    Bytes bytes_in(std::uint32_t block, std::uint32_t run = 1) const {
        return units_in(block, run) * unit_bytes;
    }
    Bytes bytes() const { return units * unit_bytes; }

    bool operator==(const Blocks&) const = default;
};

}  // namespace laple
