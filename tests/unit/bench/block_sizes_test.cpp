// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/block_sizes.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

namespace laple::bench {
namespace {

constexpr Bytes kMean = 1000;

Bytes row(Spread spread, Rank from, int ranks) {
    Bytes sum = 0;
    for (Rank to = 0; to < ranks; ++to) sum += block_bytes(spread, from, to, kMean, ranks);
    return sum;
}

Bytes all(Spread spread, int ranks) {
    Bytes sum = 0;
    for (Rank from = 0; from < ranks; ++from) sum += row(spread, from, ranks);
    return sum;
}

TEST_CASE("blocks of any spread have the mean that is asked for", "[bench]") {
    for (const int ranks : {1, 2, 7, 16}) {
        const auto expected = static_cast<double>(ranks * ranks) * static_cast<double>(kMean);
        for (const Spread spread : {Spread::equal, Spread::half, Spread::empty_rows})
            CHECK(static_cast<double>(all(spread, ranks)) == Approx(expected).epsilon(0.001));
    }
    CHECK(static_cast<double>(all(Spread::log_normal, 64)) == Approx(64.0 * 64.0 * 1000.0).epsilon(0.1));
}

TEST_CASE("one rank has half of all bytes", "[bench]") {
    for (const int ranks : {2, 7, 16})
        CHECK(static_cast<double>(row(Spread::half, ranks - 1, ranks)) ==
              Approx(static_cast<double>(all(Spread::half, ranks)) / 2).epsilon(0.001));
}

TEST_CASE("every second rank has nothing", "[bench]") {
    CHECK(row(Spread::empty_rows, 1, 7) == 0);
    CHECK(row(Spread::empty_rows, 2, 7) > 0);
}

TEST_CASE("random blocks differ widely", "[bench]") {
    Bytes least = kMean;
    Bytes most = kMean;
    for (Rank to = 0; to < 100; ++to) {
        least = std::min(least, block_bytes(Spread::log_normal, 3, to, kMean, 100));
        most = std::max(most, block_bytes(Spread::log_normal, 3, to, kMean, 100));
    }
    CHECK(least < kMean / 3);
    CHECK(most > 3 * kMean);
}

}  // namespace
}  // namespace laple::bench
