// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace laple;

TEST_CASE("an error names its place, the problem and the cure") {
    CHECK(std::string(Error({"map", 7, 3}, "rank 2 stands twice", "remove one").what()) ==
          "map:7:3: rank 2 stands twice; remove one");
    CHECK(std::string(Error({"map", 7, 0}, "a", "b").what()) == "map:7: a; b");
    CHECK(std::string(Error({"map", 0, 0}, "a", "b").what()) == "map: a; b");
    CHECK(std::string(Error("a", "b").what()) == "a; b");
}

TEST_CASE("control characters of a file do not cut an error short, nor reach the terminal") {
    CHECK(std::string(Error({"map", 1, 0}, std::string("a\0b", 3), "\x1b[1m\x7f").what()) ==
          R"(map:1: a\x00b; \x1b[1m\x7f)");
    CHECK(std::string(Error("größer\n\tzwei", "b").what()) == "größer\n\tzwei; b");
}

TEST_CASE("an error quotes no more than people read") {
    const std::string what = Error({"map", 1, 0}, std::string(100'000, 'x'), "cure").what();
    CHECK(what.size() < 1100);
    CHECK(what.ends_with("x ...; cure"));
}

TEST_CASE("the nearest name is found, and none when all are far") {
    const std::vector<std::string> names{"bcast", "reduce", "barrier"};
    CHECK(nearest_name("bcats", names) == "bcast");
    CHECK(nearest_name("redcue", names) == "reduce");
    CHECK(nearest_name("xyzzy", names).empty());
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
}
