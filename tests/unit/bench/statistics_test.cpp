// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/statistics.hpp"

#include <numeric>

#include <catch2/catch.hpp>

namespace laple::bench {
namespace {

TEST_CASE("a summary of samples in any order", "[bench]") {
    const Summary odd = summarize({5, 1, 9});
    CHECK(odd.count == 3);
    CHECK(odd.min == 1);
    CHECK(odd.median == 5);
    CHECK(odd.p95 == 9);
    CHECK(odd.max == 9);
    CHECK(summarize({4, 1, 2, 9}).median == 3);
}

TEST_CASE("the 95th percentile of 1 to 100 is 95", "[bench]") {
    std::vector<double> samples(100);
    std::iota(samples.begin(), samples.end(), 1.0);
    CHECK(summarize(samples).p95 == 95);
    CHECK(summarize({7}).p95 == 7);
}

TEST_CASE("a summary of nothing is zeros", "[bench]") {
    CHECK(summarize({}).count == 0);
    CHECK(summarize({}).median == 0);
}

}  // namespace
}  // namespace laple::bench
