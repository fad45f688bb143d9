// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/schedule/access_map.hpp"

#include <map>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using laple::AccessMap;

namespace {

using Interval = std::pair<std::uint64_t, std::uint64_t>;

/// Writes [begin, end), and returns the intervals that were met.
std::vector<Interval> write(AccessMap& map, std::uint64_t begin, std::uint64_t end, std::int64_t step) {
    std::vector<Interval> met;
    map.for_each(begin, end, [&](AccessMap::Access& access) {
        met.emplace_back(access.begin, access.end);
        access.writer = step;
    });
    return met;
}

/// Who has written which units of [begin, end).
std::vector<std::pair<Interval, std::int64_t>> writers(AccessMap& map, std::uint64_t begin,
                                                       std::uint64_t end) {
    std::vector<std::pair<Interval, std::int64_t>> found;
    map.for_each(begin, end, [&](AccessMap::Access& access) {
        found.push_back({{access.begin, access.end}, access.writer});
    });
    return found;
}

}  // namespace

TEST_CASE("units that nobody has used have no writer", "[access_map]") {
    AccessMap map;
    CHECK(writers(map, 3, 7) == std::vector<std::pair<Interval, std::int64_t>>{{{3, 7}, -1}});
    map.for_each(5, 5, [](AccessMap::Access&) { FAIL("no units, no interval"); });
}

TEST_CASE("intervals are cut where accesses begin and end", "[access_map]") {
    AccessMap map;
    CHECK(write(map, 0, 10, 1) == std::vector<Interval>{{0, 10}});
    // Inside one: what is left of it keeps its writer on both sides.
    CHECK(write(map, 3, 5, 2) == std::vector<Interval>{{3, 5}});
    CHECK(writers(map, 0, 10) ==
          std::vector<std::pair<Interval, std::int64_t>>{{{0, 3}, 1}, {{3, 5}, 2}, {{5, 10}, 1}});
    // Over a border, and beyond the end.
    CHECK(write(map, 4, 6, 3) == std::vector<Interval>{{4, 5}, {5, 6}});
    CHECK(write(map, 8, 12, 4) == std::vector<Interval>{{8, 10}, {10, 12}});
    CHECK(writers(map, 4, 12) == std::vector<std::pair<Interval, std::int64_t>>{
                                     {{4, 5}, 3}, {{5, 6}, 3}, {{6, 8}, 1}, {{8, 10}, 4}, {{10, 12}, 4}});
}

TEST_CASE("gaps between intervals are filled", "[access_map]") {
    AccessMap map;
    write(map, 2, 4, 1);
    write(map, 6, 8, 2);
    CHECK(write(map, 0, 10, 3) == std::vector<Interval>{{0, 2}, {2, 4}, {4, 6}, {6, 8}, {8, 10}});
    write(map, 20, 22, 4);
    CHECK(writers(map, 11, 12) == std::vector<std::pair<Interval, std::int64_t>>{{{11, 12}, -1}});
    CHECK(writers(map, 21, 22) == std::vector<std::pair<Interval, std::int64_t>>{{{21, 22}, 4}});
}

TEST_CASE("the same units again, and those that follow, are no new cuts", "[access_map]") {
    AccessMap map;
    for (std::uint64_t segment = 0; segment < 4; ++segment)
        CHECK(write(map, 8 * segment, 8 * segment + 8, 1).size() == 1);
    for (std::uint64_t segment = 0; segment < 4; ++segment) {
        for (int again = 0; again < 3; ++again)
            CHECK(write(map, 8 * segment, 8 * segment + 8, 2) ==
                  std::vector<Interval>{{8 * segment, 8 * segment + 8}});
    }
    CHECK(writers(map, 0, 32).size() == 4);
}

TEST_CASE("readers stay with both parts of an interval that is cut", "[access_map]") {
    AccessMap map;
    map.for_each(0, 4, [](AccessMap::Access& access) {
        access.first_reader = 7;
        access.others = {8, 9};
    });
    int parts = 0;
    for (const std::uint64_t unit : {2u, 0u, 3u, 1u}) {
        map.for_each(unit, unit + 1, [&](AccessMap::Access& access) {
            CHECK(access.first_reader == 7);
            CHECK(access.others == std::vector<std::uint32_t>{8, 9});
            ++parts;
        });
    }
    CHECK(parts == 4);
}

TEST_CASE("any accesses leave what a map of single units would hold", "[access_map]") {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 50; ++trial) {
        AccessMap map;
        std::map<std::uint64_t, std::int64_t> plain;
        for (std::int64_t step = 0; step < 60; ++step) {
            const std::uint64_t begin = random() % 64;
            const std::uint64_t end = begin + 1 + random() % 16;
            std::uint64_t at = begin;
            map.for_each(begin, end, [&](AccessMap::Access& access) {
                REQUIRE(access.begin == at);
                REQUIRE(access.end > access.begin);
                for (; at < access.end; ++at) {
                    const auto known = plain.find(at);
                    REQUIRE(access.writer == (known == plain.end() ? -1 : known->second));
                    plain[at] = step;
                }
                access.writer = step;
            });
            REQUIRE(at == end);
        }
    }
}
