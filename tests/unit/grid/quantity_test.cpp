// SPDX-License-Identifier: BSD-3-Clause
#include "grid/quantity.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace laple;
using namespace laple::grid;
using namespace std::chrono_literals;

TEST_CASE("quantities are read with their units", "[grid]") {
    CHECK(parse_rate_bps("100Mbit") == 100e6);
    CHECK(parse_rate_bps("1.5Gbit") == 1.5e9);
    CHECK(parse_duration("10ms") == 10ms);
    CHECK(parse_duration("250us") == 250us);
    CHECK(parse_duration("0.5s") == 500ms);
    CHECK(parse_percentage("0.01%") == Approx(1e-4));
    CHECK(parse_percentage("100%") == 1);
}

TEST_CASE("what is no quantity is refused", "[grid]") {
    for (const char* text :
         {"", "100", "Mbit", "100 Mbit", "100mbit", "1e9bit", "-1Mbit", "inf", "100Mbit/s"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_rate_bps(text), Error);
    }
    for (const char* text : {"", "10", "10m", "ms", "-1ms", "99999999999999s"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_duration(text), Error);
    }
    for (const char* text : {"", "5", "%", "101%", "-1%"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_percentage(text), Error);
    }
}

TEST_CASE("quantities are written as they are read", "[grid]") {
    CHECK(format_rate(100e6) == "100Mbit");
    CHECK(format_rate(1.5e9) == "1.5Gbit");
    CHECK(format_duration(10ms) == "10ms");
    CHECK(format_duration(0ms) == "0ns");
}
