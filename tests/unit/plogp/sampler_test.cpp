// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/sampler.hpp"

#include <cmath>

#include <catch2/catch.hpp>

#include "support/random.hpp"

using namespace laple;
using namespace laple::test;

TEST_CASE("mean, smallest and confidence of known values", "[sampler]") {
    Sampler sampler({});
    CHECK(std::isinf(sampler.confidence().count()));
    for (const double value : {2.0, 4.0, 6.0}) sampler.add(Seconds(value));
    CHECK(sampler.mean().count() == Approx(4));
    CHECK(sampler.smallest().count() == 2);
    CHECK(sampler.confidence().count() == Approx(1.886 * 2 / std::sqrt(3.0)));
    CHECK_FALSE(sampler.is_settled());
}

TEST_CASE("equal values settle at once, wild ones never before the most", "[sampler]") {
    Sampler calm({});
    for (int i = 0; i < 3; ++i) calm.add(Seconds(1e-4));
    CHECK(calm.is_settled());
    Sampler wild({.most = 10});
    for (int i = 0; i < 9; ++i) wild.add(Seconds(i % 2 == 0 ? 1e-4 : 1e-2));
    CHECK_FALSE(wild.is_settled());
    wild.add(Seconds(1e-4));
    CHECK(wild.is_settled());
}

TEST_CASE("the mean exceeds the true one by more than the confidence in a tenth of all cases", "[sampler]") {
    Random random(9);
    int exceeded = 0;
    for (int run = 0; run < 2000; ++run) {
        Sampler sampler({});
        for (int i = 0; i < 12; ++i) sampler.add(Seconds(std::normal_distribution<double>(1.0, 0.1)(random)));
        if (sampler.mean().count() - sampler.confidence().count() > 1.0) ++exceeded;
    }
    CHECK(exceeded > 150);
    CHECK(exceeded < 250);
}
