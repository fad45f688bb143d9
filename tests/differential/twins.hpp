// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace laple::test {

inline std::vector<std::byte> noise(std::size_t bytes, Random& random) {
    std::vector<std::byte> memory(bytes);
    for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
        const std::uint64_t value = random();
        std::memcpy(memory.data() + i, &value, std::min(sizeof(value), bytes - i));
    }
    return memory;
}

/// Bytes in front of and behind what a call may touch.
inline constexpr std::size_t kGuard = 64;

/// Memory for one call, by LaPle and by MPI alone, which begins alike.
struct Twins {
    std::vector<std::byte> ours;
    std::vector<std::byte> theirs;

    explicit Twins(const std::vector<std::byte>& content, std::size_t more = 0) {
        ours.assign(content.size() + more + 2 * kGuard, std::byte{0xA5});
        std::copy(content.begin(), content.end(), ours.begin() + kGuard);
        theirs = ours;
    }
    std::byte* our_start() { return ours.data() + kGuard; }
    std::byte* their_start() { return theirs.data() + kGuard; }
};

/// Where the two differ, or nothing.
inline std::string first_difference(const Twins& twins, const char* what) {
    const auto [ours, theirs] = std::mismatch(twins.ours.begin(), twins.ours.end(), twins.theirs.begin());
    if (ours == twins.ours.end()) return {};
    std::ostringstream text;
    text << what << " differs at byte " << (ours - twins.ours.begin()) - static_cast<std::ptrdiff_t>(kGuard)
         << " of " << twins.ours.size() - 2 * kGuard << ": " << std::to_integer<int>(*ours) << ", MPI's own "
         << std::to_integer<int>(*theirs);
    return text.str();
}

}  // namespace laple::test
