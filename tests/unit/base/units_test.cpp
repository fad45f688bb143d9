// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace laple;

TEST_CASE("sizes are read with binary prefixes") {
    CHECK(parse_bytes("0") == 0);
    CHECK(parse_bytes("8") == 8);
    CHECK(parse_bytes("64K") == 65536);
    CHECK(parse_bytes("64KiB") == 65536);
    CHECK(parse_bytes("64k") == 65536);
    CHECK(parse_bytes("1MB") == 1048576);
    CHECK(parse_bytes("2G") == 2147483648u);
    CHECK(parse_bytes("12B") == 12);
}

TEST_CASE("what is no size is refused") {
    for (const char* text :
         {"", "K", "-1", "1.5K", "8Q", "8 K", "8Kx", "99999999999999999999", "20000000000G"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_bytes(text), Error);
    }
}

TEST_CASE("sizes are written in their shortest exact form and read back") {
    CHECK(format_bytes(0) == "0");
    CHECK(format_bytes(100) == "100");
    CHECK(format_bytes(65536) == "64K");
    CHECK(format_bytes(65537) == "65537");
    CHECK(format_bytes(8388608) == "8M");
    for (const Bytes bytes : {1u, 1023u, 1024u, 1536u, 1048576u})
        CHECK(parse_bytes(format_bytes(bytes)) == bytes);
}

TEST_CASE("sizes for people have three digits") {
    CHECK(format_bytes_about(0) == "0");
    CHECK(format_bytes_about(1023) == "1023");
    CHECK(format_bytes_about(1024) == "1.00K");
    CHECK(format_bytes_about(1000U << 10) == "1000K");
    CHECK(format_bytes_about((1U << 20) - 1) == "1.00M");
    CHECK(format_bytes_about(29009416) == "27.7M");
    CHECK(format_bytes_about(52736U << 10) == "51.5M");
    CHECK(format_bytes_about(768U << 20) == "768M");
    CHECK(format_bytes_about(1U << 30) == "1.00G");
}

TEST_CASE("times are written with three digits and a fitting unit") {
    CHECK(format_seconds(Seconds(0)) == "0.00 us");
    CHECK(format_seconds(Seconds(1.234e-5)) == "12.3 us");
    CHECK(format_seconds(Seconds(0.0034)) == "3.40 ms");
    CHECK(format_seconds(Seconds(0.1239)) == "124 ms");
    CHECK(format_seconds(Seconds(2.5)) == "2.50 s");
}
