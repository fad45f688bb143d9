// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace laple {

inline constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325u;

/// Goes on with a hash over the characters of `text` and a NUL that ends them, so that "ab", "c" and "a",
/// "bc" differ. (FNV-1a, 64 bits)
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = kFnvStart) {
    constexpr std::uint64_t kPrime = 0x100000001b3u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
    return hash * kPrime;
}

}  // namespace laple
