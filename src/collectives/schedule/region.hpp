// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.hpp"
#include "collectives/collective/buffers.hpp"

namespace laple {

/// Where in a rank's memory: the unit at which something begins.
struct Place {
    Buffer buffer = kResult;
    std::uint64_t offset = 0;
    bool operator==(const Place&) const = default;
};

/// Units of a buffer that follow each other. Each buffer has a layout of its own (datatype, extent), which
/// the executor knows.
struct Region {
    Buffer buffer = kResult;
    std::uint64_t offset = 0;
    std::uint64_t units = 0;

    Place place() const { return {buffer, offset}; }
    bool operator==(const Region&) const = default;
};

/// Some units of a message that follow each other.
struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t units = 0;
    bool operator==(const Segment&) const = default;
};

/// A message of `units` units of `unit_bytes` each, cut into segments of equal size; the last one may be
/// shorter.
struct Segments {
    std::uint64_t units = 1;
    Bytes unit_bytes = 1;
    std::uint64_t units_per_segment = 1;

    /// A message is never cut into more: a schedule must fit into memory.
    static constexpr std::uint64_t kMost = 1u << 16;

    /// Segments of at most `segment_bytes` (one unit at least, and more where there would be more than kMost
    /// of them); 0: one segment. `units` ≥ 1.
    static Segments cut(std::uint64_t units, Bytes unit_bytes, Bytes segment_bytes) {
        if (segment_bytes == 0) return {units, unit_bytes, units};
        const std::uint64_t fewest = (units + kMost - 1) / kMost;
        const std::uint64_t wanted = std::max(segment_bytes / std::max<Bytes>(unit_bytes, 1), fewest);
        return {units, unit_bytes, std::min(wanted, units)};
    }
    /// As many segments as there are `parts`; fewer where there are fewer units.
    static Segments cut_into(std::uint64_t units, Bytes unit_bytes, int parts) {
        const auto count = static_cast<std::uint64_t>(parts);
        return {units, unit_bytes, (units + count - 1) / count};
    }

    std::uint32_t count() const {
        return static_cast<std::uint32_t>((units + units_per_segment - 1) / units_per_segment);
    }
    Segment at(std::uint32_t index) const { return run(index, 1); }
    /// Of `count` segments from `index` on as one; no units beyond the end.
    Segment run(std::uint32_t index, std::uint32_t count) const {
        const std::uint64_t offset = std::min(index * units_per_segment, units);
        return {offset, std::min(count * units_per_segment, units - offset)};
    }
    /// Of the first, which no other exceeds.
    Bytes segment_bytes() const { return units_per_segment * unit_bytes; }
};

/// That segment of the message in a buffer that holds all of it.
constexpr Region region_in(Buffer buffer, Segment segment) {
    return {buffer, segment.offset, segment.units};
}

}  // namespace laple
