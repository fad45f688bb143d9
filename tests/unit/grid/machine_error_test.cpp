// SPDX-License-Identifier: BSD-3-Clause
#include "grid/machine_error.hpp"

#include <catch2/catch.hpp>

using namespace laple::grid;

TEST_CASE("who lacks rights is told so, and not to make room", "[grid]") {
    CHECK(advice_after(EACCES) == "run as root");
    CHECK(advice_after(EPERM) == "run as root");
    CHECK(advice_after(ENOSPC) == "make room in /run");
}
