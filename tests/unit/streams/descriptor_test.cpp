// SPDX-License-Identifier: BSD-3-Clause
#include "streams/descriptor.hpp"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/socket.h>

using namespace laple::streams;

TEST_CASE("what the limit leaves is free", "[streams]") {
    rlimit usual{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    const std::size_t open = open_descriptors().size();
    const auto free_with = [&](rlim_t most) {
        const rlimit limit{most, usual.rlim_max};
        REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        const int free = free_descriptors();
        REQUIRE(setrlimit(RLIMIT_NOFILE, &usual) == 0);
        return free;
    };
    CHECK(free_with(open + 20) == 20);
    std::vector<Descriptor> more;
    for (int i = 0; i < 5; ++i) more.emplace_back(::socket(AF_INET, SOCK_DGRAM, 0));
    const auto all = open_descriptors();
    CHECK(std::count(all.begin(), all.end(), more.front().number()) == 1);
    CHECK(free_with(open + 20) == 15);
    CHECK(free_with(open) == 0);
}
