// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "collectives/collective/buffers.hpp"
#include "collectives/schedule/segments.hpp"

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

/// That segment of the message in a buffer that holds all of it.
constexpr Region region_in(Buffer buffer, Segment segment) {
    return {buffer, segment.offset, segment.units};
}

}  // namespace laple
