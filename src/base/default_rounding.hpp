// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>

namespace laple {

/// While one lives, this thread computes as a program begins: it rounds to nearest, and traps nothing. What
/// all ranks decide by must not depend on what the program has set, which may differ between them.
class DefaultRounding {
  public:
    DefaultRounding() : is_needed_(!is_as_usual()) {
        if (!is_needed_) return;
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultRounding() {
        if (is_needed_) std::fesetenv(&before_);
    }
    DefaultRounding(const DefaultRounding&) = delete;
    DefaultRounding& operator=(const DefaultRounding&) = delete;

  private:
    /// Most programs change nothing, and to ask takes some ns, to set and restore more than a hundred. By
    /// arithmetic, for there are processors with two registers for it, of which fegetround() reads one.
    static bool is_as_usual() {
#ifdef __GLIBC__
        if (fegetexcept() != 0) return false;
#endif
        const volatile double tiny = 0x1p-60;
        return 1 + tiny == 1 && 1 - tiny == 1;
    }

    bool is_needed_;
    std::fenv_t before_{};
};

}  // namespace laple
