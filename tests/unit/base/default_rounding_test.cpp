// SPDX-License-Identifier: BSD-3-Clause
#include "base/default_rounding.hpp"

#include <catch2/catch.hpp>

namespace laple {

TEST_CASE("what the program has set for its own arithmetic is set aside, and comes back", "[base]") {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetround(FE_UPWARD);
    {
        const DefaultRounding guard;
        CHECK(std::fegetround() == FE_TONEAREST);
        std::feraiseexcept(FE_INVALID);
    }
    const int rounding = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK(rounding == FE_UPWARD);
    CHECK(std::fetestexcept(FE_INVALID) == 0);
}

}  // namespace laple
