// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple::plan {

/// The families of algorithms that LaPle has, those for `collective` alone where it is not empty: how names
/// are written, what they do, for which collectives, and the paper. Throws Error for an unknown collective.
std::string algorithms_text(const std::string& collective);
std::string algorithms_json(const std::string& collective);

}  // namespace laple::plan
