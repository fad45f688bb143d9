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

TEST_CASE("what falls is made level at its mean", "[curve]") {
    Curve curve({{0, Seconds(4)}, {1, Seconds(2)}, {2, Seconds(3)}, {3, Seconds(8)}});
    CHECK(curve.make_monotone() == Seconds(1));
    CHECK(curve == Curve({{0, Seconds(3)}, {1, Seconds(3)}, {2, Seconds(3)}, {3, Seconds(8)}}));
    CHECK(curve.make_monotone() == Seconds(0));
}

TEST_CASE("a curve goes on along a line over at least an octave", "[curve]") {
    // The last two sizes are close together, and noisy: their own line would rise four times too fast.
    const Curve curve({{0, Seconds(0)}, {100, Seconds(100)}, {200, Seconds(200)}, {220, Seconds(280)}});
    CHECK(curve.at(440).count() == Approx(280 + 220 * 1.5));
}
