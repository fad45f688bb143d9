// SPDX-License-Identifier: BSD-3-Clause
#include "plogp/arrival_rate.hpp"

#include <catch2/catch.hpp>

using namespace laple;

namespace {

constexpr double kMega = 1e6;

std::uint64_t mega(double bytes) {
    return static_cast<std::uint64_t>(bytes * kMega);
}

}  // namespace

TEST_CASE("the last quarter of the time counts", "[arrival_rate]") {
    ArrivalRate rate(Seconds(9.9), Seconds(1));
    CHECK(rate.wants(Seconds(10), false));
    rate.note(Seconds(10), mega(1), false);
    CHECK_FALSE(rate.wants(Seconds(10.5), false));
    rate.note(Seconds(10.5), mega(2), false);
    CHECK(rate.wants(Seconds(10.75), false));
    rate.note(Seconds(10.75), mega(4), false);
    CHECK_FALSE(rate.wants(Seconds(10.9), false));
    CHECK(rate.rate() == 0);
    CHECK(rate.wants(Seconds(11), false));
    rate.note(Seconds(11), mega(6), false);
    CHECK(rate.rate() == Approx(8 * kMega));
    CHECK_FALSE(rate.wants(Seconds(12), false));
    rate.note(Seconds(12), mega(100), true);
    CHECK(rate.rate() == Approx(8 * kMega));
}

TEST_CASE("of what is slow, all counts", "[arrival_rate]") {
    ArrivalRate rate(Seconds(0), Seconds(1));
    rate.note(Seconds(0.1), 2'000, false);
    rate.note(Seconds(0.9), 18'000, false);
    rate.note(Seconds(1.1), 22'000, false);
    CHECK(rate.rate() == Approx(20e3));
}

TEST_CASE("a short piece does not tell", "[arrival_rate]") {
    // Looked at 0.99 and 1.0 only: what had waited has come in between.
    ArrivalRate rate(Seconds(0), Seconds(1));
    rate.note(Seconds(0.1), mega(1), false);
    rate.note(Seconds(0.99), mega(9), false);
    rate.note(Seconds(1.1), mega(11), false);
    CHECK(rate.rate() == Approx(10 * kMega));
}

TEST_CASE("what has all come at once counts from the start", "[arrival_rate]") {
    ArrivalRate rate(Seconds(2), Seconds(1));
    CHECK(rate.rate() == 0);
    rate.note(Seconds(2.5), 0, false);
    CHECK(rate.wants(Seconds(4), true));
    rate.note(Seconds(4), mega(10), true);
    CHECK(rate.rate() == Approx(5 * kMega));
    ArrivalRate none(Seconds(2), Seconds(1));
    none.note(Seconds(4), 0, true);
    CHECK(none.rate() == 0);
}

TEST_CASE("what ends early counts until then", "[arrival_rate]") {
    ArrivalRate rate(Seconds(0), Seconds(1));
    rate.note(Seconds(0.1), mega(1), false);
    CHECK(rate.wants(Seconds(0.3), true));
    rate.note(Seconds(0.3), mega(2), true);
    CHECK(rate.rate() == Approx(5 * kMega));
}

TEST_CASE("counts that go back give no rate", "[arrival_rate]") {
    ArrivalRate rate(Seconds(0), Seconds(1));
    rate.note(Seconds(0.1), mega(3), false);
    rate.note(Seconds(0.8), mega(5), false);
    rate.note(Seconds(1.2), mega(2), false);
    CHECK(rate.rate() == Approx(2 * kMega / 1.2));
}
