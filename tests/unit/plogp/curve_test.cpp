// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/curve.hpp"

#include <catch2/catch.hpp>

using namespace laple;

TEST_CASE("a curve is straight between what is known, and goes on beyond", "[curve]") {
    const Curve curve({{0, Seconds(1)}, {100, Seconds(2)}, {200, Seconds(6)}});
    CHECK(curve.at(0).count() == Approx(1));
    CHECK(curve.at(50).count() == Approx(1.5));
    CHECK(curve.at(100).count() == Approx(2));
    CHECK(curve.at(150).count() == Approx(4));
    CHECK(curve.at(400).count() == Approx(14));
}

TEST_CASE("a curve of few points", "[curve]") {
    CHECK(Curve().at(7) == Seconds(0));
    const Curve one({{64, Seconds(3)}});
    CHECK(one.at(0) == Seconds(3));
    CHECK(one.at(1 << 20) == Seconds(3));
}

TEST_CASE("beyond the last size a curve never falls", "[curve]") {
    const Curve falling({{0, Seconds(5)}, {10, Seconds(4)}});
    CHECK(falling.at(1000) == Seconds(4));
}

TEST_CASE("a curve is made monotone from below", "[curve]") {
    Curve curve({{0, Seconds(4)}, {1, Seconds(2)}, {2, Seconds(3)}, {3, Seconds(8)}});
    CHECK(curve.make_monotone() == Approx(1.0));
    CHECK(curve == Curve({{0, Seconds(4)}, {1, Seconds(4)}, {2, Seconds(4)}, {3, Seconds(8)}}));
    CHECK(curve.make_monotone() == 0);
}
