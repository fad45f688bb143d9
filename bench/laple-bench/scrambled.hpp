// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace laple::bench {

/// A number that looks random, and differs between numbers and streams of them. (The finalizer of splitmix64:
/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)
inline std::uint64_t scrambled(std::uint64_t number, std::uint64_t stream) {
    std::uint64_t x = number + (stream << 40U) + 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

}  // namespace laple::bench
