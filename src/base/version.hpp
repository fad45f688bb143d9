// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple {

/// For people: "0.1.0 (1a2b3c4)", with the commit of the source tree when it was configured; without one
/// where that was no git repository.
std::string version_text();

}  // namespace laple
