// SPDX-License-Identifier: BSD-3-Clause
#include "base/default_rounding.hpp"

#include <catch2/catch.hpp>

namespace laple {

TEST_CASE("what the program has set for its own arithmetic is set aside, and comes back", "[base]") {
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::feclearexcept(FE_ALL_EXCEPT);
        std::fesetround(mode);
        int inside = mode;
        {
            const DefaultRounding guard;
            inside = std::fegetround();
            std::feraiseexcept(FE_INVALID);
        }
        const int after = std::fegetround();
        std::fesetround(FE_TONEAREST);
        CHECK(inside == FE_TONEAREST);
        CHECK(after == mode);
        CHECK(std::fetestexcept(FE_INVALID) == 0);
    }
}

}  // namespace laple
