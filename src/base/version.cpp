// SPDX-License-Identifier: BSD-3-Clause
#include "base/version.hpp"

namespace laple {

std::string version_text() {
    const std::string commit = LAPLE_COMMIT;
    return commit.empty() ? LAPLE_VERSION : LAPLE_VERSION " (" + commit + ")";
}

}  // namespace laple
