// SPDX-License-Identifier: BSD-3-Clause
#include "base/packed_numbers.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"

using namespace laple;

namespace {

std::vector<std::uint64_t> bits_of(const std::vector<double>& numbers) {
    std::vector<std::uint64_t> bits;
    for (const double number : numbers) bits.push_back(std::bit_cast<std::uint64_t>(number));
    return bits;
}

void check_same(const std::vector<double>& numbers) {
    CHECK(bits_of(unpack_numbers(pack_numbers(numbers))) == bits_of(numbers));
}

}  // namespace

TEST_CASE("packed numbers come back bit for bit") {
    check_same({});
    check_same({0});
    const double infinity = std::numeric_limits<double>::infinity();
    check_same({-0.0, 0.0, -1, 1, 0.1, -0.1, 127, 128, 9007199254740991.0, 9007199254740992.0,
                9007199254740994.0, 1e300, infinity, -infinity, std::nan(""),
                std::numeric_limits<double>::denorm_min()});
}

TEST_CASE("runs that occurred before come back, those that go on into themselves, too") {
    check_same(std::vector<double>(1000, 0.3));
    check_same({0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1});
    check_same({0.1, 0.2, 0.3, 5, 0.1, 0.2, 0.3, 5, 0.1, 0.2, 7, 0.2, 0.3});
}

TEST_CASE("random lists of few different numbers come back") {
    std::mt19937 random(1);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<double> numbers;
        const auto kinds = 1 + random() % 6;
        const auto count = random() % 300;
        for (std::size_t i = 0; i < count; ++i)
            numbers.push_back(static_cast<double>(random() % kinds) * 0.7);
        check_same(numbers);
    }
}

TEST_CASE("whole numbers and repeated runs take few bytes") {
    CHECK(pack_numbers(std::vector<double>{0, 1, 2, 62}).size() == 4);
    CHECK(pack_numbers(std::vector<double>{0.5}).size() == 9);
    CHECK(pack_numbers(std::vector<double>(1000, 0.5)).size() == 12);
    CHECK(pack_numbers(std::vector<double>{0.1, 0.2, 0.3, 0.1, 0.2, 0.3}).size() == 29);
}

TEST_CASE("broken bytes are refused") {
    std::vector<std::uint8_t> bytes = pack_numbers(std::vector<double>{0.1, 0.2, 0.1, 0.2});
    CHECK_THROWS_AS(unpack_numbers(std::span(bytes).first(5)), Error);
    CHECK_THROWS_AS(unpack_numbers(std::span(bytes).first(bytes.size() - 1)), Error);
    bytes.back() = 3;  // further back than there are numbers
    CHECK_THROWS_AS(unpack_numbers(bytes), Error);
    CHECK_THROWS_AS(unpack_numbers(std::vector<std::uint8_t>{1, 0}), Error);
    CHECK_THROWS_AS(unpack_numbers(std::vector<std::uint8_t>(11, 0xff)), Error);
    // A number, and the same some 2^48 times.
    CHECK_THROWS_AS(unpack_numbers(std::vector<std::uint8_t>{2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}),
                    Error);
}
