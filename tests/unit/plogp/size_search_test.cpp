// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/size_search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <catch2/catch.hpp>

using namespace laple;

namespace {

using Time = std::function<double(Bytes)>;

std::vector<Bytes> sizes_for(const std::vector<Time>& curves, const SizeSearch::Options& options = {}) {
    SizeSearch search(options);
    std::vector<Bytes> sizes;
    while (const auto bytes = search.next()) {
        REQUIRE(sizes.size() < 1000);
        sizes.push_back(*bytes);
        std::vector<Seconds> times;
        for (const Time& curve : curves) times.emplace_back(curve(*bytes));
        search.add(*bytes, times);
    }
    std::sort(sizes.begin(), sizes.end());
    CHECK(std::adjacent_find(sizes.begin(), sizes.end()) == sizes.end());
    return sizes;
}

double straight(Bytes bytes) {
    return 1e-5 + static_cast<double>(bytes) / 100e6;
}

}  // namespace

TEST_CASE("of a straight line the powers of two are enough", "[size_search]") {
    const auto sizes = sizes_for({straight});
    CHECK(sizes.size() == 25);  // 0, 1, 2, ... 8 MiB
    CHECK(sizes.back() == 8 * 1024 * 1024);
}

TEST_CASE("a step is closed in on", "[size_search]") {
    for (const Bytes step : {1500u, 8246u, 65536u, 131072u, 700000u}) {
        const auto sizes = sizes_for(
            {straight, [&](Bytes bytes) { return straight(bytes) + (bytes > step ? straight(step) : 0); }});
        const auto above = std::upper_bound(sizes.begin(), sizes.end(), step);
        REQUIRE(above != sizes.end());
        INFO("step above " << step << ": between " << *(above - 1) << " and " << *above);
        CHECK(static_cast<double>(*above - *(above - 1)) <=
              std::max(32.0, 0.10 * static_cast<double>(*above)));
        CHECK(sizes.size() < 50);
    }
}

TEST_CASE("noise does not make it search for ever", "[size_search]") {
    int calls = 0;
    const auto sizes = sizes_for({[&](Bytes bytes) { return straight(bytes) * (++calls % 3 == 0 ? 5 : 1); }},
                                 {.max_between = 15});
    CHECK(sizes.size() <= 40);
}
