// SPDX-License-Identifier: BSD-3-Clause
#include "base/logarithm.hpp"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace laple;

TEST_CASE("the logarithm that is alike on all hosts is that of the C library", "[logarithm]") {
    for (double x = 1e-12; x < 1e12; x *= 1.0173) CHECK(log_alike(x) == Approx(std::log(x)).epsilon(1e-14));
    CHECK(log_alike(1) == 0);
    CHECK(log_alike(2) == Approx(std::log(2.0)).epsilon(1e-15));
    CHECK(log_alike(1 + 1e-9) == Approx(std::log(1 + 1e-9)).epsilon(1e-14));
    CHECK(log_alike(std::numeric_limits<double>::denorm_min()) < -744);
}
