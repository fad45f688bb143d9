// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>

namespace laple {

/// While one lives, this thread computes as a program begins: it rounds to nearest, and traps nothing. What
/// all ranks decide by must not depend on what the program has set, which may differ between them.
class DefaultRounding {
  public:
    DefaultRounding() {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultRounding() { std::fesetenv(&before_); }
    DefaultRounding(const DefaultRounding&) = delete;
    DefaultRounding& operator=(const DefaultRounding&) = delete;

  private:
    std::fenv_t before_{};
};

}  // namespace laple
