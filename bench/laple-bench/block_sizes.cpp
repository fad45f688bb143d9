// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/block_sizes.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

#include "bench/laple-bench/scrambled.hpp"

namespace laple::bench {
namespace {

/// Above 0, and at most 1.
double uniform(std::uint64_t number, std::uint64_t stream) {
    constexpr double kSteps = 9007199254740992.0;  // 2^53: all are exact
    return (static_cast<double>(scrambled(number, stream) >> 11U) + 1) / kSteps;
}

/// By the transform of Box and Muller ("A note on the generation of random normal deviates", 1958).
double normal(std::uint64_t number) {
    return std::sqrt(-2 * std::log(uniform(number, 1))) * std::cos(2 * std::numbers::pi * uniform(number, 2));
}

/// The size over the mean.
double share(Spread spread, Rank from, Rank to, int ranks) {
    switch (spread) {
        case Spread::equal:
            return 1;
        case Spread::half:
            if (ranks == 1) return 1;
            return from == ranks - 1 ? ranks / 2.0 : ranks / (2.0 * (ranks - 1));
        case Spread::empty_rows:
            return from % 2 == 1 ? 0 : static_cast<double>(ranks) / ((ranks + 1) / 2);
        case Spread::log_normal:
            return std::exp(
                normal((static_cast<std::uint64_t>(from) << 32U) + static_cast<std::uint64_t>(to)) - 0.5);
    }
    return 1;
}

}  // namespace

Bytes block_bytes(Spread spread, Rank from, Rank to, Bytes mean, int ranks) {
    return static_cast<Bytes>(std::llround(share(spread, from, to, ranks) * static_cast<double>(mean)));
}

}  // namespace laple::bench
